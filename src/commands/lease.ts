/** Name of the Lease for leader election of the manager, in the operator's namespace. */
export const LEASE_NAME = 'traffic-operator';

/** The same for the command `trafficweights`. */
export const WEIGHTS_LEASE_NAME = 'traffic-operator-weights';
