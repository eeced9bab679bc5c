import { describe, expect, it } from 'vitest';
import { missingDataOf } from './spec/verdict.ts';
import { parseTrafficWatchSpec } from './schema.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
const deployment = { selector: { matchLabels: { app: 'web' } }, template };

function problems(spec: object): string[] {
  const object = { metadata: { name: 'web' }, spec: { maxBandwidthPercent: '60', deployment, ...spec } };
  const parsed = parseTrafficWatchSpec(object);
  return 'problems' in parsed ? parsed.problems : [];
}

const withHoldFor = (holdFor: unknown) => ({ missingData: { policy: 'Unfit', holdFor } });

describe('durations', () => {
  it.each(['1s', '24h', '90s', '1m30s', '1.5h', '1000ms', '23h59m60s'])('accept %j', (text) => {
    expect(problems(withHoldFor(text))).toEqual([]);
  });

  it.each(['', '0', '999ms', '24h1s', '5', '5 m', '-5m', '5d', '1e3s', '100us', 'm', '999999h'])(
    'reject %j',
    (text) => {
      expect(problems(withHoldFor(text))).toEqual([
        `spec.missingData.holdFor is ${JSON.stringify(text)}: must be a duration from "1s" to "24h", such as "90s", "5m" or "1h30m"`,
      ]);
    },
  );
});

describe('missingData', () => {
  it('holds the label by default; Unfit and Fit apply after five minutes', () => {
    expect(missingDataOf(undefined)).toBeUndefined();
    expect(missingDataOf({ missingData: {} })).toBeUndefined();
    expect(missingDataOf({ missingData: { policy: 'Hold' } })).toBeUndefined();
    expect(missingDataOf({ missingData: { policy: 'Fit' } })).toEqual({ countsAs: 'Fit', holdForMs: 300_000 });
    expect(missingDataOf({ missingData: { policy: 'Unfit', holdFor: '90s' } })).toEqual({
      countsAs: 'Unfit',
      holdForMs: 90_000,
    });
  });

  it.each([{ holdFor: '5m' }, { policy: 'Hold', holdFor: '5m' }])(
    'rejects holdFor with the policy Hold: %j',
    (given) => {
      expect(problems({ missingData: given })).toEqual([
        'spec.missingData.holdFor is "5m": applies only with the policy Unfit or Fit: with Hold the label stays however long there is no figure',
      ]);
    },
  );

  it('rejects an unknown policy, and names the allowed ones', () => {
    expect(problems({ missingData: { policy: 'unfit' } }).join()).toMatch(/policy is "unfit": .*Hold.*Unfit.*Fit/);
  });
});

describe('breakerCooldown', () => {
  it('applies only with a limit', () => {
    expect(problems({ breakerCooldown: '5m', maxUnfit: 1 })).toEqual([]);
    expect(problems({ breakerCooldown: '5m', minFit: '50%' })).toEqual([]);
    expect(problems({ breakerCooldown: '5m' })).toEqual([
      'spec.breakerCooldown is "5m": applies only with maxUnfit or minFit: without a limit there is no breaker',
    ]);
  });
});
