import { describe, expect, it } from 'vitest';
import { judge, valueText } from './ramp.ts';
import { FAILED, INTERVAL_MS, NO_DATA, PASSED, Ramped, SETTINGS } from './testing/ramped.ts';

describe('a ramp', () => {
  it('goes to the desired weight in steps, asks its gate before each, and once after the last', () => {
    const ramped = new Ramped();
    ramped.desired = 35;
    expect(ramped.run(4)).toEqual([10, 20, 30, 35]);
    expect(ramped.state).toMatchObject({ from: 0, target: 35, weight: 35, phase: 'Progressing' });
    expect(ramped.run(2)).toEqual([35, 35]);
    expect([ramped.state, ramped.asked]).toEqual([undefined, 5]);
  });

  it('without a gate ends with its last step', () => {
    const ramped = new Ramped({ isGated: false });
    ramped.desired = 15;
    expect(ramped.run(2)).toEqual([10, 15]);
    expect([ramped.state, ramped.asked]).toEqual([undefined, 0]);
  });

  it('goes down in steps, too, and at once with the direction Up', () => {
    const [both, up] = [new Ramped(), new Ramped({ direction: 'Up' })];
    for (const ramped of [both, up]) [ramped.weight, ramped.desired] = [30, 5];
    expect(both.run(3)).toEqual([20, 10, 5]);
    expect([up.run(1), up.state]).toEqual([[5], undefined]);
  });

  it('waits until a step is in force, and for the interval from then on', () => {
    const ramped = new Ramped();
    ramped.desired = 50;
    ramped.run(1);
    ramped.isRead = false;
    // The step to 10 was in force, and no longer is: the gate is not asked about it.
    expect([ramped.run(5), ramped.asked]).toEqual([[10, 10, 10, 10, 10], 1]);
    ramped.isRead = true;
    ramped.reconcile();
    expect([ramped.weight, ramped.asked]).toEqual([20, 2]);
    expect(ramped.state?.nextStepAt).toBe(ramped.now + INTERVAL_MS);
    ramped.now += INTERVAL_MS - 1;
    ramped.reconcile();
    expect(ramped.weight).toBe(20);
    ramped.now += 1;
    ramped.reconcile();
    expect(ramped.weight).toBe(30);
  });

  it('takes no step while a hosted zone cannot be read, and an interval more once it can', () => {
    const ramped = new Ramped();
    [ramped.desired, ramped.state] = [50, undefined];
    ramped.reconcile();
    expect(ramped.weight).toBe(10);
    [ramped.isUnverified, ramped.now] = [true, ramped.now + INTERVAL_MS];
    expect(ramped.run(4)).toEqual([10, 10, 10, 10]);
    ramped.isUnverified = false;
    expect(ramped.run(2)).toEqual([20, 30]);
  });

  it('goes back while a hosted zone cannot be read, if its gate fails an interval after the step', () => {
    const ramped = new Ramped();
    ramped.desired = 50;
    ramped.isUnverified = true;
    [ramped.weight, ramped.lastStepAt] = [10, ramped.now];
    ramped.state = { from: 0, target: 50, weight: 10, phase: 'Progressing', failures: 0 };
    ramped.gate = FAILED;
    ramped.now += INTERVAL_MS - 1;
    ramped.reconcile();
    expect([ramped.weight, ramped.asked]).toEqual([10, 0]);
    ramped.now += 1;
    ramped.reconcile();
    expect(ramped).toMatchObject({ weight: 0, state: { phase: 'RolledBack' } });
  });

  it('does not begin before the weight that it starts from is in force', () => {
    const ramped = new Ramped();
    [ramped.desired, ramped.isRead] = [50, false];
    expect(ramped.run(2)).toEqual([0, 0]);
    ramped.isRead = true;
    expect(ramped.run(2)).toEqual([0, 10]);
  });

  it('gives a cluster without records the desired weight: that is no change', () => {
    const ramped = new Ramped();
    [ramped.weight, ramped.desired] = [undefined, 50];
    ramped.reconcile();
    expect([ramped.weight, ramped.state]).toEqual([50, undefined]);
  });

  it('begins no sooner than the interval after the previous change', () => {
    const ramped = new Ramped({ isGated: false });
    ramped.desired = 10;
    ramped.reconcile();
    expect([ramped.weight, ramped.state]).toEqual([10, undefined]);
    ramped.desired = 20;
    ramped.now += INTERVAL_MS - 1;
    ramped.reconcile();
    expect(ramped.weight).toBe(10);
    ramped.now += 1;
    ramped.reconcile();
    expect(ramped.weight).toBe(20);
  });

  it('that is removed leaves the desired weight at once', () => {
    const ramped = new Ramped();
    ramped.desired = 50;
    ramped.run(2);
    ramped.settings = undefined;
    ramped.reconcile();
    expect([ramped.weight, ramped.state]).toEqual([50, undefined]);
  });
});

describe('a gate', () => {
  it('without data holds the step, however long, and counts as no failure', () => {
    const ramped = new Ramped();
    ramped.desired = 50;
    ramped.run(2);
    ramped.gate = NO_DATA;
    expect(new Set(ramped.run(100))).toEqual(new Set([20]));
    expect(ramped.state).toMatchObject({ phase: 'Progressing', failures: 0, gate: NO_DATA });
    ramped.gate = PASSED;
    expect(ramped.run(1)).toEqual([30]);
  });

  it.each([
    ['Immediate', [0, 0, 0], 'RolledBack'],
    ['Gradual', [20, 10, 0], 'RolledBack'],
    ['Hold', [30, 30, 30], 'Held'],
  ] as const)('that fails rolls back: %s', (rollback, weights, phase) => {
    const ramped = new Ramped({ rollback });
    ramped.desired = 50;
    ramped.run(3);
    ramped.gate = FAILED;
    expect(ramped.run(3)).toEqual(weights);
    expect(ramped.state).toMatchObject({ from: 0, target: 50, phase });
    ramped.gate = PASSED;
    expect(new Set(ramped.run(10))).toEqual(new Set([weights[2]]));
    expect(ramped.asked).toBe(4);
  });

  it('that fails rolls back in steps also while a step is not in force', () => {
    const ramped = new Ramped({ rollback: 'Gradual' });
    ramped.desired = 50;
    ramped.run(3);
    ramped.gate = FAILED;
    expect(ramped.run(1)).toEqual([20]);
    ramped.isRead = false;
    expect(ramped.run(2)).toEqual([10, 0]);
  });

  it('that holds up a drain does not with the direction Up', () => {
    for (const gate of [NO_DATA, FAILED]) {
      const ramped = new Ramped();
      [ramped.weight, ramped.desired, ramped.gate] = [50, 0, gate];
      expect(ramped.run(2)).toEqual([50, 50]);
      ramped.settings = { ...SETTINGS, direction: 'Up' };
      expect(ramped.run(1)).toEqual([0]);
    }
  });

  it('that fails after the last step rolls back, too', () => {
    const ramped = new Ramped();
    ramped.desired = 20;
    ramped.run(2);
    ramped.gate = FAILED;
    expect(ramped.run(1)).toEqual([0]);
  });

  it('may fail as often as its limit says, and then the ramp goes on an interval later', () => {
    const ramped = new Ramped({ failureLimit: 2 });
    ramped.desired = 50;
    ramped.run(1);
    ramped.gate = FAILED;
    expect(ramped.run(2)).toEqual([10, 10]);
    ramped.gate = PASSED;
    expect(ramped.run(1)).toEqual([20]);
    ramped.gate = FAILED;
    expect(ramped.run(1)).toEqual([0]);
  });

  it('that fails before the first step leaves the weight as it is', () => {
    for (const rollback of ['Immediate', 'Gradual', 'Hold'] as const) {
      const ramped = new Ramped({ rollback });
      [ramped.desired, ramped.gate] = [50, FAILED];
      expect(ramped.run(3)).toEqual([0, 0, 0]);
    }
  });
});

describe('another desired weight', () => {
  it('begins a new ramp after a rollback, also the same one once more', () => {
    const ramped = new Ramped();
    [ramped.desired, ramped.gate] = [50, FAILED];
    ramped.run(2);
    ramped.gate = PASSED;
    for (const desired of [0, 50]) {
      ramped.desired = desired;
      ramped.reconcile();
    }
    expect(ramped.weight).toBe(10);
  });

  it('on the way goes on from the step that is reached, not sooner, and rolls back to the first weight', () => {
    const ramped = new Ramped();
    ramped.desired = 50;
    ramped.run(2);
    ramped.now -= INTERVAL_MS / 2;
    ramped.desired = 80;
    ramped.reconcile();
    expect(ramped.weight).toBe(20);
    ramped.now += INTERVAL_MS / 2;
    ramped.reconcile();
    expect([ramped.weight, ramped.state?.from]).toEqual([30, 0]);
    ramped.now += INTERVAL_MS;
    ramped.gate = FAILED;
    expect(ramped.run(1)).toEqual([0]);
  });

  it('that is the first one ends a ramp when it is back', () => {
    const ramped = new Ramped();
    ramped.desired = 30;
    ramped.run(2);
    ramped.desired = 0;
    ramped.gate = FAILED;
    ramped.run(1);
    expect([ramped.weight, ramped.state]).toEqual([0, undefined]);
  });
});

describe('the result of a gate', () => {
  it.each([
    [0.009, '< 0.01', 'Passed'],
    [0.01, '< 0.01', 'Failed'],
    [0.01, '<=0.01', 'Passed'],
    [99.5, '>= 99.5', 'Passed'],
    [99.4, '>= 99.5', 'Failed'],
    [-2, '> -3', 'Passed'],
    [1, '== 1', 'Passed'],
    [1, '!= 1', 'Failed'],
  ])('%d %s is %s', (value, condition, result) => {
    expect(judge([value], condition)).toEqual({ result, value });
  });

  it.each([
    [[], 'the query gives no series'],
    [[1, 1], 'the query gives 2 series: must be one'],
    [[NaN], 'the query gives NaN'],
    [[Infinity], 'the query gives Infinity'],
  ])('%j is no data', (values, message) => {
    expect(judge(values, '!= 5')).toEqual({ result: 'NoData', message });
  });

  it.each([
    [0.9230769230769231, '< 0.01', '0.9231'],
    [0.010000001, '< 0.01', '0.01'],
    [0.010000001, '<= 0.01', '0.010000001'],
    [1234567, '< 5', '1235000'],
    [0.5, '< 0.01', '0.5'],
  ])('%d, which is not %s, is shown as %s', (value, condition, text) => {
    expect(valueText(value, condition)).toBe(text);
  });
});
