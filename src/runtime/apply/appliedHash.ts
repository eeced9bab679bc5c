/**
 * Annotation with a hash of the last applied object, so that the removal of a desired field is detected as a change.
 */
export const APPLIED_HASH_ANNOTATION = 'traffic.example.com/applied-hash';
