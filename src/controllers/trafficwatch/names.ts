/** The finalizer that holds a deleted TrafficWatch until its labels are removed from the nodes. */
export const FINALIZER = 'traffic.example.com/node-labels';
/** The field manager of all writes for TrafficWatches. It also identifies the operator's labels on Nodes. */
export const FIELD_MANAGER = 'traffic-operator-trafficwatch';
/** Name of the indexes of objects by their namespace. */
export const BY_NAMESPACE = 'namespace';
/** Name of the index of TrafficWatches by the label keys that they claim. */
export const BY_LABEL_KEY = 'labelKey';
