import { readFileSync, writeFileSync } from 'node:fs';
import { expect, vi } from 'vitest';
import { chartHeapOption, chartMemoryLimitMebibytes } from '../harness/chartHeap.ts';
import { imageEnvironment } from '../harness/imageEnvironment.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import type { Lie } from './lyingAnswers.ts';
import { startLyingPrometheus, type LyingPrometheus } from './lyingPrometheus.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { unfitKey } from '../harness/unfitKey.ts';

const WAIT = { timeout: 90_000, interval: 100 };
const KEY = unfitKey('web');
const LABELS = { n1: 'false', n2: 'true', n3: 'false' };

/** Something else than the truth, and the reason by which a TrafficWatch must tell of it. */
export interface LieRow {
  readonly name: string;
  readonly lie: Lie;
  readonly reason: string;
}

/**
 * The operator, as the image and the chart have it, with a labelled TrafficWatch `web` and a Prometheus in between that
 * can be told to lie.
 */
export class LyingScene {
  readonly f: Fixture;
  readonly prometheus: LyingPrometheus;

  private constructor(f: Fixture, prometheus: LyingPrometheus) {
    this.f = f;
    this.prometheus = prometheus;
  }

  /** Resolves when all is measured and labelled. */
  static async start(args: readonly string[]): Promise<LyingScene> {
    const f = await startFixture({ nodes: Object.keys(LABELS) });
    const scene = new LyingScene(f, await startLyingPrometheus(f.prometheusUrl));
    f.exporter.setPercent('n2', 60);
    await scene.#startOperator(args);
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => {
      expect(await f.labels(KEY)).toEqual(LABELS);
      expect(await scene.reachable()).toMatchObject({ status: 'True' });
      expect((await f.watch('web')).status).toMatchObject({ ready: true, unknownNodes: 0 });
    }, WAIT);
    measured(`RSS at rest: ${scene.#memory('VmRSS').toFixed(0)} MiB`);
    return scene;
  }

  async #startOperator(args: readonly string[]): Promise<void> {
    // What is started inherits it.
    Object.assign(process.env, imageEnvironment());
    await withNodeOptions(chartHeapOption(), () => this.f.startOperator(args, { prometheusUrl: this.prometheus.url }));
  }

  async stop(): Promise<void> {
    await this.prometheus.stop();
    await this.f.stop();
  }

  /** The condition PrometheusReachable. */
  async reachable() {
    return (await this.f.watch('web')).status?.conditions?.find(({ type }) => type === 'PrometheusReachable');
  }

  /** Lies until the condition has the reason, and for two more passes; then tells the truth, and waits until it is measured again. */
  async lieFor({ name, lie, reason }: LieRow): Promise<void> {
    const versions = await this.f.nodeVersions();
    this.#peakMemory();
    this.prometheus.lie = lie;
    const message = await this.seenAs(reason);
    const peak = this.#peakMemory();
    await this.expectUntouched(versions);
    this.prometheus.lie = undefined;
    await this.expectRecovery(name, versions);
    measured(`${name}: ${reason}, "${message}"; RSS up to ${peak.toFixed(0)} MiB`);
    expect(message).not.toContain('s3cret');
    // Two answers of 32 MiB at once, and what the collector has not yet taken away of those before.
    expect(peak).toBeLessThan(chartMemoryLimitMebibytes());
  }

  /** Waits for the reason, then for two more passes; resolves to the message. */
  async seenAs(reason: string): Promise<string> {
    const after = this.prometheus.asked;
    const message = await vi.waitFor(async () => {
      const condition = await this.reachable();
      expect(condition).toMatchObject({ status: 'False', reason });
      return condition?.message ?? '';
    }, WAIT);
    if (reason !== 'PrometheusUnreachable') {
      await until('more passes were made', () => this.prometheus.asked >= after + 4);
    }
    return message;
  }

  /** Every node as it was, to the last write: no figure is neither none (n2 would be fit) nor full (n1 and n3 unfit). */
  async expectUntouched(versions: unknown): Promise<void> {
    const { f } = this;
    expect(await f.labels(KEY)).toEqual(LABELS);
    expect(await f.nodeVersions()).toEqual(versions);
    const { status } = await f.watch('web');
    expect(status).toMatchObject({ ready: true, unknownNodes: 3, fitNodes: 0, unfitNodes: 0 });
    expect(status?.nodes).toMatchObject({ n1: { unfit: false }, n2: { unfit: true }, n3: { unfit: false } });
  }

  async expectRecovery(name: string, versions: unknown): Promise<void> {
    const { f } = this;
    const isReachable = async (): Promise<boolean> => (await this.reachable())?.status === 'True';
    const took = await until('Prometheus is reachable again', isReachable);
    measured(`${name}: reachable ${seconds(took)} after the lie ended`);
    await vi.waitFor(async () => expect((await f.watch('web')).status).toMatchObject({ unknownNodes: 0 }), WAIT);
    expect(await f.nodeVersions()).toEqual(versions);
  }

  /** No secret was logged, and no error of the operator's own. */
  expectCleanLog(): void {
    const log = this.f.operator().log();
    const isError = (line: string): boolean => line.includes('"level":"error"') || line.includes('"level":50');
    expect(log.trim().split('\n').filter(isError)).toEqual([]);
    expect(log).not.toContain('s3cret');
  }

  #memory(field: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.f.operator().pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  }

  /** Highest resident memory since the last time it was asked for, MiB (proc(5): VmHWM, clear_refs). */
  #peakMemory(): number {
    const peak = this.#memory('VmHWM');
    writeFileSync(`/proc/${this.f.operator().pid}/clear_refs`, '5');
    return peak;
  }
}
