/** Field manager of all objects of a stack. */
export const FIELD_MANAGER = 'traffic-operator-trafficstack';
/** Field manager of the external objects that the operator names in the spec of the stack `default`. */
export const DISCOVERY_MANAGER = 'traffic-operator-discovery';
/** Annotation of the stack `default`: a hash of the spec that the operator wrote. Users changed a spec with another hash. */
export const DEFAULT_STACK_HASH = 'traffic.example.com/default-stack-hash';
/** Keeps a TrafficStack until its objects are gone. */
export const FINALIZER = 'traffic.example.com/trafficstack';
/** Label of each object and pod: the name of its TrafficStack. */
export const STACK_LABEL = 'traffic.example.com/stack';
/** Annotation of objects that cannot be changed, such as Jobs: a hash of their manifest. Another manifest is another object. */
export const MANIFEST_HASH = 'traffic.example.com/manifest-hash';
/** Label of each object and pod: the name of its component. */
export const COMPONENT_LABEL = 'traffic.example.com/component';
