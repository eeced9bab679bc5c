import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createMeasurementMetrics } from './metrics.ts';

it.each([true, false])('expects a process for DNS weights if the options do: %s', async (weights) => {
  const registry = new Registry();
  createMeasurementMetrics(registry, { weights });
  const text = await registry.metrics();
  expect(text.includes('\ntraffic_operator_process_expected{process="weights"} 1\n')).toBe(weights);
});

it('exports the last numbers', async () => {
  const registry = new Registry();
  const metrics = createMeasurementMetrics(registry);
  metrics.targets(3);
  metrics.problems(2);
  metrics.problems(1);
  const text = await registry.metrics();
  expect(text).toContain('\ntraffic_operator_measurement_targets 3\n');
  expect(text).toContain('\ntraffic_operator_measurement_problems 1\n');
});
