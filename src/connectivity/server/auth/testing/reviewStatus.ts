import type { V1TokenReviewStatus } from '@kubernetes/client-node';

/** The API server's answer for a valid token of the pod `a` in the namespace `ns`. */
export const VALID: V1TokenReviewStatus = {
  authenticated: true,
  audiences: ['aud'],
  user: {
    username: 'system:serviceaccount:ns:sa',
    extra: { 'authentication.kubernetes.io/pod-name': ['a'], 'authentication.kubernetes.io/pod-uid': ['u'] },
  },
};
