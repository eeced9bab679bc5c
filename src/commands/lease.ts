/** Name of the Lease for leader election, in the operator's namespace. */
export const LEASE_NAME = 'traffic-operator';
