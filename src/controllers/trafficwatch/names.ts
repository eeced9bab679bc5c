/** Keeps a TrafficWatch until its labels are off the nodes. */
export const FINALIZER = 'traffic.example.com/node-labels';
