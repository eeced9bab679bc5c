import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../protocol/measurement.ts';
import type { AgentView, MeasurementBefore } from '../view.ts';
import { finished } from '../steps.ts';
import { AgentsByPlace, pairsOf } from './pair.ts';

const WORKS: PeerResult = { node: 'b', address: '198.18.0.2', tcp: { ok: true }, udp: { sent: 20, received: 20 } };
const FAILS: PeerResult = { ...WORKS, tcp: { ok: false, error: 'Timeout' }, udp: { sent: 20, received: 0 } };
const LOSES: PeerResult = { ...WORKS, udp: { sent: 20, received: 10 } };
const IPV6 = { address: 'fd00::2' };
const [BEFORE, LAST] = [10_000, 25_000];

/** The times of the only pair. @param last what was measured, for each address */
function timesOf(last: readonly PeerResult[], before: Partial<MeasurementBefore> | undefined) {
  const agent = (node: string): AgentView => ({
    ...{ node, plane: 'Pod', pod: node, state: 'Reporting', peers: [], targets: [], heard: [] },
  });
  const nothing = { peers: [], targets: [], unprobed: [], unasked: [] };
  const times = {
    ...{ measuredAt: LAST, reportedAt: LAST + 1_000 },
    ...(before !== undefined && { before: { measuredAt: BEFORE, reportedAt: BEFORE + 1_000, ...nothing, ...before } }),
  };
  const view = {
    nodes: [{ name: 'a' }, { name: 'b' }],
    agents: [{ ...agent('a'), peers: last, times }, agent('b')],
    thresholds: { lossPercent: 10 },
  };
  return finished(pairsOf(view, new AgentsByPlace(view)))[0];
}

describe('the time since when a pair is as it is', () => {
  it.each<[string, PeerResult, Partial<MeasurementBefore> | undefined, object]>([
    ['that worked before', WORKS, {}, { since: BEFORE, isFirst: false }],
    ['that failed before', FAILS, { peers: [FAILS] }, { since: BEFORE, failedSince: BEFORE, isFirst: false }],
    ['that fails now', FAILS, {}, { since: LAST, failedSince: LAST, isFirst: false }],
    ['that lost packets before', FAILS, { peers: [LOSES] }, { since: BEFORE, failedSince: LAST, isFirst: false }],
    ['that works again', WORKS, { peers: [FAILS] }, { since: LAST, isFirst: false }],
    ['that was not probed before', WORKS, { unprobed: ['b'] }, { since: LAST, isFirst: true }],
    ['that was not probed before, and fails', FAILS, { unprobed: ['b'] }, { since: LAST, isFirst: true }],
    ['in the first measurement', WORKS, undefined, { since: LAST, isFirst: false }],
  ])('%s', (_, last, before, wanted) => {
    expect(timesOf([last], before)).toMatchObject({ last: LAST, ...wanted });
  });

  it.each<[string, PeerResult, Partial<MeasurementBefore>, object]>([
    ['that failed over both before', FAILS, { peers: [FAILS, { ...FAILS, ...IPV6 }] }, { failedSince: BEFORE }],
    ['that failed over one before', FAILS, { peers: [{ ...FAILS, ...IPV6 }] }, { since: BEFORE, failedSince: LAST }],
    [
      'that works over one again',
      WORKS,
      { peers: [FAILS, { ...FAILS, ...IPV6 }] },
      { since: BEFORE, failedSince: LAST },
    ],
    ['that works over one still', WORKS, { peers: [{ ...FAILS, ...IPV6 }] }, { since: BEFORE, failedSince: BEFORE }],
    ['that was not probed before', FAILS, { unprobed: ['b'] }, { failedSince: LAST, isFirst: true }],
  ])('with two families, of which one is dead: %s', (_, last, before, wanted) => {
    expect(timesOf([last, { ...FAILS, ...IPV6 }], before)).toMatchObject({ last: LAST, ...wanted });
  });
});
