import { describe, expect, it } from 'vitest';
import type { PolicyState } from '../../observe/observation.ts';
import {
  aForeignWatch,
  anObservation,
  aWatch,
  aWorkload,
  pass,
  type WatchChanges,
} from '../../testing/observations.ts';
import { eventsOf } from '../../testing/settled.ts';

const INSTALLED: PolicyState = { reason: 'PolicyInstalled', message: '' };
const MISSING: PolicyState = { reason: 'PolicyMissing', message: 'none' };
const FULL = { n1: 50, n2: 50, other: 1 };

function noteOf(spec: WatchChanges, policy: PolicyState | undefined, isSelecting: boolean): string | undefined {
  const changes = isSelecting ? { ...spec, nodeSelector: { matchLabels: { pool: 'a' } } } : spec;
  const podSelector = { matchLabels: { app: 'web' } };
  const watch = policy === undefined ? aWatch(changes) : aForeignWatch({ podSelector }, changes);
  const workload = policy === undefined ? undefined : aWorkload(watch, podSelector, { policy });
  const selected = { n1: { pool: 'a' }, n2: { pool: 'a' } };
  const nodes = isSelecting ? { ...selected, other: {} } : selected;
  const passes = [pass(2, FULL), pass(1, FULL)];
  return eventsOf(anObservation({ watch, workload, nodes, passes })).find(({ reason }) => reason === 'AllNodesUnfit')
    ?.note;
}

const STRICT = 'every node is unfit: running pods are not moved, new pods find no node';
const PREFERS =
  'every node is unfit: running pods are not moved, new pods run on unfit nodes, since they only prefer fit ones';
const DRY = 'every node would be unfit: mode Observe writes no label, so pods run on any node';

describe('AllNodesUnfit', () => {
  it.each<[WatchChanges, PolicyState | undefined, string]>([
    [{}, undefined, STRICT],
    [{ placement: 'Required' }, undefined, STRICT],
    [{ placement: 'Preferred' }, undefined, PREFERS],
    [{ mode: 'Observe' }, undefined, DRY],
    [{ mode: 'Observe', placement: 'Preferred' }, INSTALLED, DRY],
    [{}, INSTALLED, PREFERS],
    [{ placement: 'Required' }, INSTALLED, STRICT],
    [{ placement: 'AtCreation' }, INSTALLED, STRICT],
    [{ placement: 'AtCreation' }, { ...INSTALLED, isOutdated: true }, PREFERS],
    [
      { placement: 'Required' },
      MISSING,
      'every node is unfit: running pods are not moved, new pods run on any node, since no admission policy adds the node affinity',
    ],
  ])('says what pods do, with %j and the policy %j', (spec, policy, note) => {
    expect(noteOf(spec, policy, false)).toBe(note);
  });

  it.each<[WatchChanges, string]>([
    [
      { placement: 'Preferred' },
      'every selected node is unfit: running pods are not moved, new pods prefer nodes that spec.nodeSelector leaves out, and may run on unfit nodes',
    ],
    [{ mode: 'Observe' }, 'every selected node would be unfit: mode Observe writes no label, so pods run on any node'],
  ])('names the nodes that a selector leaves out, with %j', (spec, note) => {
    expect(noteOf(spec, undefined, true)).toBe(note);
  });
});
