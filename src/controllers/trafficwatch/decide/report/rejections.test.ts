import { describe, expect, it } from 'vitest';
import { NOW } from '../../testing/observations.ts';
import { decideRejections, type Rejection } from './events.ts';

const rejection = (pod: string, changes: Partial<Rejection> = {}): Rejection => ({
  uid: `uid-${pod}`,
  pod,
  node: 'n1',
  failedAt: NOW - 1000,
  ...changes,
});
const decide = (rejections: readonly Rejection[], seen: readonly string[] = []) =>
  decideRejections({ rejections, seen: new Set(seen), unfitNodes: new Set(['n1', 'n2']), now: NOW });
const notes = (rejections: readonly Rejection[], seen?: readonly string[]) =>
  decide(rejections, seen).events.map(({ note }) => note);

describe('decideRejections', () => {
  it('says which pods the kubelet of which node rejected, why, and what to do', () => {
    expect(decide([rejection('web-b'), rejection('web-a'), rejection('web-c', { node: 'n2' })]).events).toEqual([
      {
        type: 'Warning',
        reason: 'PodsRejected',
        note:
          'the kubelet of node n1 restarted while the node was unfit and rejected 2 pods, whose required node affinity ' +
          'no longer matched: web-a, web-b; set spec.placement to Preferred, or move pods before maintenance ' +
          '(kubectl drain)',
      },
      expect.objectContaining({ note: expect.stringMatching(/node n2 .* rejected 1 pod, .*: web-c;/) as string }),
    ]);
  });

  it('names five pods and counts the others', () => {
    const many = Array.from({ length: 7 }, (_, n) => rejection(`web-${n}`));
    expect(notes(many).join()).toMatch(/rejected 7 pods, .*: web-0, web-1, web-2, web-3, web-4 and 2 more;/);
  });

  it('reports a pod once', () => {
    const { seen } = decide([rejection('web-a')]);
    expect(notes([rejection('web-a')], [...seen])).toEqual([]);
    expect(notes([rejection('web-a'), rejection('web-b')], [...seen]).join()).toMatch(/1 pod, .*: web-b;/);
  });

  it('forgets pods that are deleted', () => {
    expect(decide([rejection('web-b')], ['uid-web-a']).seen).toEqual(new Set(['uid-web-b']));
  });

  it('does not report a pod on a fit node, even if the node is unfit later: the affinity is the user’s own', () => {
    const fit = [rejection('web-a', { node: 'n3' })];
    const { events, seen } = decide(fit);
    expect(events).toEqual([]);
    expect(notes([rejection('web-a')], [...seen])).toEqual([]);
  });

  it('does not report old rejections, which an earlier process has reported', () => {
    expect(notes([rejection('web-a', { failedAt: NOW - 300_001 })])).toEqual([]);
    expect(notes([rejection('web-a', { failedAt: NOW - 299_999 })])).toHaveLength(1);
    expect(notes([rejection('web-a', { failedAt: undefined })])).toHaveLength(1);
  });
});
