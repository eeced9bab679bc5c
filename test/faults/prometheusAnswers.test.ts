import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { bundle } from '../../scripts/build.ts';
import { startFixture, type Fixture } from '../integration/fixture.ts';
import * as lies from './lyingAnswers.ts';
import type { Lie } from './lyingAnswers.ts';
import { startLyingPrometheus, type LyingPrometheus } from './lyingPrometheus.ts';
import { measured, seconds, until } from './measured.ts';

/** A Prometheus that answers late, wrongly, endlessly or not at all, as the operator's process meets it. */
const WAIT = { timeout: 90_000, interval: 100 };
const KEY = 'web.traffic.example.com/unfit';
const LABELS = { n1: 'false', n2: 'true', n3: 'false' };
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/**
 * What the chart lets the operator have, MiB. It has to do for two answers of 32 MiB at once, and what the garbage
 * collector has not yet taken away of those before.
 */
const LIMIT_MIB = memoryLimit();
/** Of one answer: the limit, and what lies in the buffers of two sockets and of both processes. */
const MOST_TAKEN_MIB = 48;
const LATE_MS = 60_000;

let directory: string;
let f: Fixture;
let prometheus: LyingPrometheus;
/** Resident memory of the operator before any lie, MiB. */
let atRest: number;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'bundle-'));
  // As the image has it: the sources by themselves take more, for the types that are stripped.
  await bundle(join(ROOT, 'src/main.ts'), directory);
  f = await startFixture({ nodes: Object.keys(LABELS) });
  f.exporter.setPercent('n2', 60);
  prometheus = await startLyingPrometheus(f.prometheusUrl);
  await f.startOperator(['--interval=2s'], { prometheusUrl: prometheus.url, main: join(directory, 'main.js') });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => {
    expect(await f.labels(KEY)).toEqual(LABELS);
    expect(await reachable()).toMatchObject({ status: 'True' });
    expect((await f.watch('web')).status).toMatchObject({ ready: true, unknownNodes: 0 });
  }, WAIT);
  atRest = memory('VmRSS');
  measured(`RSS at rest: ${atRest.toFixed(0)} MiB`);
});
afterAll(async () => {
  await prometheus.stop();
  await f.stop();
  rmSync(directory, { recursive: true, force: true });
});

function memoryLimit(): number {
  const values = parse(readFileSync(join(ROOT, 'charts/traffic-operator/values.yaml'), 'utf8')) as {
    resources: { limits: { memory: string } };
  };
  const { memory: limit } = values.resources.limits;
  const [, mebibytes] = /^(\d+)Mi$/.exec(limit) ?? [];
  if (mebibytes === undefined) throw new Error(`resources.limits.memory of the chart is ${limit}: not in Mi`);
  return Number(mebibytes);
}

async function reachable() {
  return (await f.watch('web')).status?.conditions?.find(({ type }) => type === 'PrometheusReachable');
}

/** Waits for the reason, then for two more passes; resolves to the message. */
async function seenAs(reason: string): Promise<string> {
  const after = prometheus.asked;
  const message = await vi.waitFor(async () => {
    const condition = await reachable();
    expect(condition).toMatchObject({ status: 'False', reason });
    return condition?.message ?? '';
  }, WAIT);
  if (reason !== 'PrometheusUnreachable') await until('more passes were made', () => prometheus.asked >= after + 4);
  return message;
}

/** Every node as it was, to the last write: no figure is neither none (n2 would be fit) nor full (n1 and n3 unfit). */
async function expectUntouched(versions: unknown): Promise<void> {
  expect(await f.labels(KEY)).toEqual(LABELS);
  expect(await f.nodeVersions()).toEqual(versions);
  const { status } = await f.watch('web');
  expect(status).toMatchObject({ ready: true, unknownNodes: 3, fitNodes: 0, unfitNodes: 0 });
  expect(status?.nodes).toMatchObject({ n1: { unfit: false }, n2: { unfit: true }, n3: { unfit: false } });
}

function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${f.operator().pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}

/** Highest resident memory since the last time it was asked for, MiB (proc(5): VmHWM, clear_refs). */
function peakMemory(): number {
  const peak = memory('VmHWM');
  writeFileSync(`/proc/${f.operator().pid}/clear_refs`, '5');
  return peak;
}

interface Row {
  readonly name: string;
  readonly lie: Lie;
  readonly reason: string;
}

async function lieFor({ name, lie, reason }: Row): Promise<void> {
  const versions = await f.nodeVersions();
  peakMemory();
  prometheus.lie = lie;
  const message = await seenAs(reason);
  const peak = peakMemory();
  await expectUntouched(versions);
  prometheus.lie = undefined;
  await expectRecovery(name, versions);
  measured(`${name}: ${reason}, "${message}"; RSS up to ${peak.toFixed(0)} MiB`);
  expect(message).not.toContain('s3cret');
  expect(peak).toBeLessThan(LIMIT_MIB);
}

async function expectRecovery(name: string, versions: unknown): Promise<void> {
  const took = await until('Prometheus is reachable again', async () => (await reachable())?.status === 'True');
  measured(`${name}: reachable ${seconds(took)} after the truth was told again`);
  await vi.waitFor(async () => expect((await f.watch('web')).status).toMatchObject({ unknownNodes: 0 }), WAIT);
  expect(await f.nodeVersions()).toEqual(versions);
}

describe('labels stay, and the reason is told, when Prometheus', () => {
  it.each<Row>([
    { name: 'answers with HTML and 502', lie: lies.badGateway, reason: 'PrometheusBadStatus' },
    { name: 'answers with garbage', lie: lies.garbage, reason: 'PrometheusBadAnswer' },
    { name: 'answers with another shape', lie: lies.matrix, reason: 'PrometheusBadAnswer' },
    { name: 'breaks off', lie: lies.truncated, reason: 'PrometheusUnreachable' },
    { name: 'answers 100 MiB compressed', lie: lies.compressed(100), reason: 'PrometheusTooLarge' },
  ])('$name', lieFor);

  it.each([
    ['answers 100 MiB', 100],
    ['answers without end', Infinity],
  ])('%s, which is not taken', async (name, mebibytes) => {
    let most = 0;
    const lie = lies.large(mebibytes, (taken) => (most = Math.max(most, taken)));
    await lieFor({ name, lie, reason: 'PrometheusTooLarge' });
    measured(`${name}: ${most} MiB of an answer were taken`);
    expect(most).toBeLessThan(MOST_TAKEN_MIB);
  });

  it('answers after a minute, and what nobody waits for is called off', async () => {
    let most = 0;
    const count = setInterval(() => (most = Math.max(most, prometheus.held)), 50);
    await lieFor({ name: 'answers after 60 s', lie: lies.late(LATE_MS), reason: 'PrometheusDeadline' });
    clearInterval(count);
    measured(`answers after 60 s: at most ${most} questions were open at once`);
    // Two of a pass, two that are asked beside it.
    expect(most).toBeLessThanOrEqual(4);
  });

  it('is gone', async () => {
    const versions = await f.nodeVersions();
    await prometheus.refuse();
    const message = await seenAs('PrometheusUnreachable');
    await expectUntouched(versions);
    await prometheus.listen();
    await expectRecovery('is gone', versions);
    expect(message).toContain('ECONNREFUSED');
  });
});

describe('the process', () => {
  it('is the same as before, and has logged no error of its own', () => {
    const levels = f.operator().log().trim().split('\n');
    expect(levels.filter((line) => line.includes('"level":"error"') || line.includes('"level":50'))).toEqual([]);
    expect(f.operator().log()).not.toContain('s3cret');
  });
});
