/** Name of the Lease in the operator's namespace by which replicas elect one of them. */
export const LEASE_NAME = 'traffic-operator';
