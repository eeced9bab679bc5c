import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { registerEvaluationMetrics } from './evaluationMetrics.ts';
import { Scene } from './testing/scene.ts';

const GRACE_MS = 65_000;
const SILENT = ['silent_agents{plane="Pod"} 0', 'silent_agents{plane="Host"} 0'];
let scene: Scene;
let registry: Registry;

beforeEach(async () => {
  scene = new Scene();
  registry = new Registry();
  registerEvaluationMetrics(registry, scene.connectivity, scene.clock);
  await scene.clock.advance(GRACE_MS);
  for (const node of scene.names) scene.report(node);
});

/** Series without the prefix of their names. */
async function series(): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.replace('traffic_operator_connectivity_', ''));
}

describe('the metrics of the evaluation', () => {
  it('have a series for what was measured, and none for a plane that no check asks for', async () => {
    expect(await series()).toEqual([
      ...scene.names.map((node) => `loss_ratio{node="${node}",plane="Pod"} 0`).sort(),
      ...scene.names.map((node) => `latency_seconds{node="${node}",plane="Pod"} 0.001`).sort(),
      'covered_pairs{plane="Pod"} 6',
      'failed_pairs{plane="Pod"} 0',
      'reporting_agents{check="all"} 3',
      ...SILENT,
      'evaluation_duration_seconds 0',
    ]);
  });

  it('have no series while the pods cannot be read: 0 failed pairs would be a lie', async () => {
    scene.pods.refusal = { detail: 'forbidden' };
    await scene.clock.advance(1_000);
    expect(await series()).toEqual([]);
  });

  it('have only the series of the pods while Nodes cannot be read', async () => {
    scene.nodes.refusal = { detail: 'forbidden' };
    await scene.clock.advance(1_000);
    expect(await series()).toEqual(SILENT);
  });

  it('have only the series of the pods without a check', async () => {
    scene.checks.objects = [];
    await scene.clock.advance(1_000);
    expect(await series()).toEqual(SILENT);
  });

  it('have no pairs of a check that is too early to evaluate', async () => {
    scene.restart();
    registry = new Registry();
    registerEvaluationMetrics(registry, scene.connectivity, scene.clock);
    expect(await series()).toEqual(SILENT);
  });

  it('have series of a bounded number of checks that come and go under new names', async () => {
    const [check] = scene.checks.objects;
    const seen = new Set<string>();
    for (let round = 0; round < 150; round += 1) {
      scene.checks.objects = [{ ...check, metadata: { ...check?.metadata, name: `check-${round}` } }];
      await scene.clock.advance(1_000);
      for (const each of await series()) if (each.startsWith('reporting_agents')) seen.add(each);
    }
    expect(seen.size).toBe(100);
  });
});
