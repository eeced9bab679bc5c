import { describe, expect, it } from 'vitest';
import { sameSpec } from '../../runtime/controller/sameSpec.ts';
import { aWatch, KEY, type WatchChanges } from './testing/observations.ts';
import { watchChanged } from './watchChanges.ts';

const before = aWatch({ metadata: { generation: 1, uid: 'uid-web' } });

describe('two states of a TrafficWatch', () => {
  it.each<[what: string, changes: WatchChanges, isSame: boolean, isChanged: boolean]>([
    ['nothing differs', {}, true, false],
    ['the spec', { metadata: { generation: 2 } }, false, true],
    ['deleted and created again', { metadata: { uid: 'uid-of-another' } }, false, true],
    ['is being deleted', { metadata: { deletionTimestamp: new Date(0) } }, true, true],
    ['the status', { status: { observedGeneration: 1 } }, true, false],
    ['the label key in the status', { status: { labelKey: KEY } }, true, true],
  ])('%s', (_what, changes, isSame, isChanged) => {
    const now = aWatch(changes);
    expect([sameSpec(before, now), watchChanged(before, now)]).toEqual([isSame, isChanged]);
  });
});
