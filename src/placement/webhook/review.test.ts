import { describe, expect, it } from 'vitest';
import { answerReview, type ReviewAnswer } from './review.ts';
import { LABEL_KEY, NAMESPACE, placement, pod, review } from './testing/reviews.ts';

const answer = (body: unknown): ReviewAnswer =>
  answerReview(typeof body === 'string' ? body : JSON.stringify(body), (namespace) =>
    namespace === NAMESPACE ? placement : undefined,
  );

interface Response {
  uid: string;
  allowed: boolean;
  patchType?: string;
  patch?: string;
}
const responseOf = ({ text }: ReviewAnswer): Response => (JSON.parse(text) as { response: Response }).response;

describe('the answer to an AdmissionReview', () => {
  it('has the patch of a selected pod', () => {
    const { uid, allowed, patchType, patch = '' } = responseOf(answer(review()));
    expect([uid, allowed, patchType]).toEqual(['u1', true, 'JSONPatch']);
    const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as { path: string }[];
    expect(operations.map(({ path }) => path)).toEqual([
      '/spec/affinity',
      '/spec/affinity/nodeAffinity',
      '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution',
    ]);
  });

  it.each([
    ['another pod', review({ object: { metadata: {}, spec: {} } })],
    ['a pod of a namespace without a PodPlacement', review({ namespace: 'other' })],
  ])('allows %s without a patch', (_what, body) => {
    expect(responseOf(answer(body))).toEqual({ uid: 'u1', allowed: true });
  });

  const withTerms = (nodeSelectorTerms: unknown) => ({
    ...pod,
    spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } },
  });
  it.each<[string, unknown]>([
    ['no metadata', { spec: {} }],
    ['labels that are a list', { metadata: { labels: ['app=db'] }, spec: {} }],
    ['no spec', { metadata: pod.metadata }],
    ['a spec that is a text', { metadata: pod.metadata, spec: 'x' }],
    ['an affinity that is null', { ...pod, spec: { affinity: null } }],
    ['terms that are a number', withTerms(7)],
    ['a term that is null', withTerms([null])],
    ['an expression without values', withTerms([{ matchExpressions: [{ key: LABEL_KEY, operator: 'NotIn' }] }])],
    ['a list in lists', withTerms([[[[[]]]]])],
  ])('allows a pod with %s, and never throws', (_what, object) => {
    expect(responseOf(answer(review({ object })))).toMatchObject({ uid: 'u1', allowed: true });
  });

  it.each<[string, unknown, string]>([
    ['nothing', '', 'the body'],
    ['no JSON', '{"apiVersion":', 'the body'],
    ['a list', [], 'the body'],
    ['a hundred thousand brackets', '['.repeat(100_000), 'the body'],
    ['a deep list', '['.repeat(100_000) + ']'.repeat(100_000), 'the body'],
    ['another version', { ...review(), apiVersion: 'admission.k8s.io/v1beta1' }, 'apiVersion'],
    ['no request', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, 'request'],
    ['an update', review({ operation: 'UPDATE' }), 'request.operation'],
    [
      'another kind',
      review({ resource: { group: 'apps', version: 'v1', resource: 'deployments' } }),
      'request.resource.group',
    ],
    ['no object', review({ object: null }), 'request.object'],
    ['a long uid', review({ uid: 'u'.repeat(101) }), 'request.uid'],
  ])('refuses %s', (_what, body, where) => {
    const { status, text } = answer(body);
    expect(status).toBe(400);
    expect(text).toContain(`of a new pod: ${where}: `);
    expect(text.length).toBeLessThan(300);
  });

  it('bounds the work for a pod', () => {
    const deep = `{"a":`.repeat(50_000) + '1' + '}'.repeat(50_000);
    const text = JSON.stringify(review()).replace('"spec":{}', `"spec":{"x":${deep}}`);
    expect(responseOf(answer(text)).patch).toBeDefined();
    const terms = (count: number) => withTerms(Array.from({ length: count }, () => ({ matchFields: [] })));
    expect(answer(review({ object: terms(2_000) }))).not.toHaveProperty('problem');
    const large = answer(review({ object: terms(2_001) }));
    expect(responseOf(large)).toEqual({ uid: 'u1', allowed: true });
    expect(large.problem).toBe('labels and node affinity have more than 2000 parts');
  });
});
