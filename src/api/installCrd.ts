/** How to install the CRDs of this version, for messages. */
export const APPLY_CRD = 'helm upgrade with crds.enabled=true, or kubectl apply --server-side -k deploy/crds';
