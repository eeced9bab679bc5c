import { describe, expect, it } from 'vitest';
import { Scene } from '../evaluation/testing/scene.ts';
import { expectedPods } from './agentPods.ts';

describe('expectedPods', () => {
  it.each([
    ['current', true, undefined, { pods: ['agent-n1', 'agent-n2', 'agent-n3'] }],
    ['not read yet', false, undefined, { problem: 'the pods of the agents are not read yet' }],
    ['refused from the start', false, { detail: 'pods is forbidden' }, { problem: 'pods is forbidden' }],
    ['refused later, so that it is stale', true, { detail: 'pods is forbidden' }, { problem: 'pods is forbidden' }],
  ])('with a cache that is %s', (_, synced, refusal, expected) => {
    const { pods } = new Scene();
    Object.assign(pods, { synced, refusal });
    expect(expectedPods(pods.asInformer())).toEqual(expected);
  });
});
