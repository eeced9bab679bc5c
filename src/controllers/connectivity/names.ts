/** The field manager of this controller. */
export const FIELD_MANAGER = 'traffic-operator-connectivity';

/** The ConnectivityCheck that this controller creates in a cluster without one. */
export const FIRST_CHECK = 'default';

/** Annotation on the Deployment of the server: the first ConnectivityCheck was created, or was not needed. */
export const FIRST_CHECK_ANNOTATION = 'traffic.example.com/first-connectivity-check';
/** Another value was applied with the Deployment, and would be removed with the next apply. */
export const FIRST_CHECK_DONE = 'true';
/** The field manager of that annotation alone, so that a TrafficStack that applies the Deployment leaves it. */
export const FIRST_CHECK_MANAGER = 'traffic-operator-first-check';
