import { prepare } from '../../podTerms.ts';

/** The namespace of the pod. */
export const NAMESPACE = 'space';
export const LABEL_KEY = 'db.space.traffic.example.com/unfit';

/** The PodPlacement of the namespace: pods with the label app=db get a term. */
export const placement = prepare({
  entries: [
    {
      trafficWatch: 'db',
      labelKey: LABEL_KEY,
      placement: 'Required',
      podSelector: { matchLabels: { app: 'db' } },
    },
  ],
  byLabel: { 'app=db': [0] },
});

/** A pod that gets the term. */
export const pod = { metadata: { labels: { app: 'db' } }, spec: {} };

const request = {
  uid: 'u1',
  namespace: NAMESPACE,
  operation: 'CREATE',
  resource: { group: '', version: 'v1', resource: 'pods' },
  object: pod,
};

/** An AdmissionReview of that pod. @param over other fields of its request */
export const review = (over: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { ...request, ...over },
});
