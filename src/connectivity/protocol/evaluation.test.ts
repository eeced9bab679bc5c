import { expect, it } from 'vitest';
import { evaluation, finding } from '../../controllers/connectivitycheck/testing/scenes.ts';
import { readEvaluations } from './evaluation.ts';

const read = (answer: object) => readEvaluations(JSON.stringify(answer));

it('reads every field of an evaluation', () => {
  const pair = { from: 'a', to: 'b', plane: 'Pod' as const, measured: 'TCP ok' };
  const evidence = { affectedPairs: 1, observedPairs: 2, pairs: [pair], lossPercent: 3, largestPacketBytes: 1400 };
  const full = {
    ...evaluation([finding({ evidence })]),
    lasting: [finding()],
    refused: [{ url: 'http://a/', address: '::1', reason: 'Loopback' as const, agents: 2 }],
    excluded: [{ node: 'c', reason: 'Unreachable' as const }],
  };
  expect(read({ all: full })).toEqual({ evaluations: { all: full } });
});

it('takes words and fields of a newer server as they are', () => {
  const newer = {
    ...evaluation(),
    findings: [{ ...finding(), class: 'Disk', severity: 'Suspected', new: 1 }],
    excluded: [{ node: 'c', reason: 'Hibernating' }],
  };
  expect(read({ all: newer })).toMatchObject({
    evaluations: {
      all: { findings: [{ class: 'Disk', severity: 'Suspected' }], excluded: [{ reason: 'Hibernating' }] },
    },
  });
});

it.each([
  ['a class that is no word', { class: 'a b' }],
  ['a class with 41 letters', { class: 'A'.repeat(41) }],
  ['no severity', { severity: undefined }],
  ['a severity that is a number', { severity: 1 }],
])('refuses %s', (_what, over) => {
  expect(read({ all: { ...evaluation(), findings: [{ ...finding(), ...over }] } })).toHaveProperty('problem');
});
