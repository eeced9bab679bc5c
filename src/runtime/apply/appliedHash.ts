/** Annotation that names what was applied last, so that a field taken away shows as a change. */
export const APPLIED_HASH_ANNOTATION = 'traffic.example.com/applied-hash';
