/** Keeps a TrafficWatch until its labels are off the nodes. */
export const FINALIZER = 'traffic.example.com/node-labels';
/** The one field manager of everything that is written for TrafficWatches; by it labels of Nodes are known as ours. */
export const FIELD_MANAGER = 'traffic-operator-trafficwatch';
