import { describe, expect, it } from 'vitest';
import type { HostLayout, LayoutDevice } from './testing/layouts/layout.ts';
import { LAYOUT_GROUPS } from './testing/layouts/layouts.ts';
import { annotated } from '../../nodes/statedCapacity.ts';
import type { FakeDevice } from '../../prometheus/testing/fakePrometheus.ts';
import { PassScene } from '../pass/testing/passScene.ts';

const LAYOUTS = [...LAYOUT_GROUPS.values()].flat();
const BYTES_PER_GBIT = 125e6;

interface Way {
  drivers: boolean;
  annotation: boolean;
}
const WAYS: readonly Way[] = [
  { drivers: true, annotation: false },
  { drivers: true, annotation: true },
  { drivers: false, annotation: false },
  { drivers: false, annotation: true },
];
const CASES = LAYOUTS.flatMap((layout) => WAYS.map((way) => ({ ...layout, ...way })));

const FACTS = [
  'node_network_flags',
  'node_network_iface_link',
  'node_network_iface_id',
  'node_network_speed_bytes',
] as const;
/** Each combination of facts that a server may lack. */
const LACKS = Array.from({ length: 2 ** FACTS.length - 1 }, (_zero, n) =>
  FACTS.filter((_fact, bit) => ((n + 1) & (1 << bit)) !== 0),
);

/** The series of a layout. lo has index 1, the other devices follow. */
function devicesOf({ devices }: HostLayout, withDrivers: boolean): FakeDevice[] {
  const lo: LayoutDevice = { name: 'lo', driver: '', load: 50, flags: 0x9 };
  const names = ['lo', ...devices.map(({ name }) => name)];
  return [lo, ...devices].map((device, n): FakeDevice => {
    const { name, driver, speed, load, flags, on } = device;
    const link = typeof on === 'string' ? names.indexOf(on) + 1 : on;
    return {
      node: 'a',
      instance: 'a:9100',
      device: name,
      rate: String(load * BYTES_PER_GBIT),
      total: String(1e12 + n),
      ...(speed !== undefined && { speed: String(speed * BYTES_PER_GBIT) }),
      flags: String(flags),
      ifaceId: String(n + 1),
      ifaceLink: String(link ?? n + 1),
      ...(withDrivers && driver !== '' && { driver }),
    };
  });
}

describe('a node whose uplink is 95 % full', () => {
  it.each(CASES)('is measured correctly: $name, drivers $drivers, annotation $annotation', async (layout) => {
    const scene = new PassScene();
    scene.prometheus.devices = devicesOf(layout, layout.drivers);
    const { nodes } = await scene.next({ a: layout.annotation ? { capacity: annotated(layout.capacity) } : {} });
    const usage = nodes.get('a');
    const { reason, evenWithAnnotation, onlyWithoutDrivers } = layout.unknown ?? {};
    const isUnknown = (!layout.annotation || evenWithAnnotation) && !(layout.drivers && onlyWithoutDrivers);
    if (reason !== undefined && isUnknown) {
      expect(usage).toMatchObject({ reason, message: expect.stringMatching(/\w{3}/) as string });
      return;
    }
    const idle = layout.annotation ? (layout.idle ?? []) : [];
    expect(usage?.devices).toEqual([...layout.counted, ...idle].sort());
    expect(usage?.lacksDrivers).toBe(layout.drivers ? undefined : true);
    expect(usage?.percent).toBeGreaterThanOrEqual(90);
    expect(usage?.percent).toBeLessThanOrEqual(100);
  });

  it.each(CASES)(
    'is measured correctly or not at all if facts are missing: $name, drivers $drivers, annotation $annotation',
    async (layout) => {
      for (const lacks of LACKS) {
        const scene = new PassScene();
        scene.prometheus.devices = devicesOf(layout, layout.drivers);
        scene.prometheus.keeps = (metric) => !lacks.some((series) => series === metric);
        const { nodes } = await scene.next({ a: layout.annotation ? { capacity: annotated(layout.capacity) } : {} });
        const { percent, message = '' } = nodes.get('a') ?? {};
        const why = `without ${lacks.join(', ')}`;
        if (percent === undefined) {
          expect(message, why).toMatch(
            /node_network_|node_ethtool_info|capacity|several virtual|virtual function|failover/,
          );
        } else {
          expect(percent, why).toBeGreaterThanOrEqual(90);
          expect(percent, why).toBeLessThanOrEqual(100);
        }
      }
    },
  );

  it.each(CASES)(
    'is measured correctly or not at all if one counter is missing: $name, drivers $drivers, annotation $annotation',
    async (layout) => {
      for (const missing of layout.counted) {
        const scene = new PassScene();
        scene.prometheus.devices = devicesOf(layout, layout.drivers).map((each) =>
          each.device === missing ? { ...each, rate: undefined, total: undefined } : each,
        );
        const { nodes } = await scene.next({ a: layout.annotation ? { capacity: annotated(layout.capacity) } : {} });
        const { percent, reason } = nodes.get('a') ?? {};
        if (percent === undefined) expect(reason).not.toBe('Measured');
        else expect(percent, `without the counter of ${missing}`).toBeGreaterThanOrEqual(90);
        expect(percent ?? 100).toBeLessThanOrEqual(100);
      }
    },
  );

  /** Whether a fact of the device is left: no series shows a device of which none is. */
  const isSeenWithout = (lacks: readonly string[], devices: readonly FakeDevice[], name: string): boolean => {
    const one = devices.find(({ device }) => device === name);
    if (one?.driver) return true;
    const left = FACTS.filter((fact) => !lacks.includes(fact));
    return left.some((fact) => fact !== 'node_network_speed_bytes' || one?.speed !== undefined);
  };
  const asked = (layout: (typeof CASES)[number], devices: FakeDevice[], keeps?: (metric: string) => boolean) => {
    const scene = new PassScene();
    scene.prometheus.devices = devices;
    if (keeps) scene.prometheus.keeps = keeps;
    return scene.next({ a: layout.annotation ? { capacity: annotated(layout.capacity) } : {} });
  };
  const BY_FACT = {
    flags: 'node_network_flags',
    ifaceLink: 'node_network_iface_link',
    ifaceId: 'node_network_iface_id',
    speed: 'node_network_speed_bytes',
  };

  it.each(CASES)(
    'is measured correctly or not at all if one device lacks a fact: $name, drivers $drivers, annotation $annotation',
    async (layout) => {
      for (const fact of Object.keys(BY_FACT) as (keyof typeof BY_FACT)[]) {
        for (const { name } of layout.devices) {
          const devices = devicesOf(layout, layout.drivers).map((each): FakeDevice => {
            if (each.device !== name) return each;
            const { [fact]: _lacking, ...others } = each;
            return fact === 'flags' ? { ...others, flags: '' } : others;
          });
          const { percent = 95 } = (await asked(layout, devices)).nodes.get('a') ?? {};
          expect(percent, `${name} without ${fact}`).toBeGreaterThanOrEqual(90);
          expect(percent, `${name} without ${fact}`).toBeLessThanOrEqual(100);
        }
      }
    },
  );

  it.each(CASES)(
    'is measured correctly or not at all if one counter and other facts are missing: $name, drivers $drivers, annotation $annotation',
    async (layout) => {
      for (const missing of layout.counted) {
        const devices = devicesOf(layout, layout.drivers).map((each) =>
          each.device === missing ? { ...each, rate: undefined, total: undefined } : each,
        );
        for (const lacks of LACKS.filter((each) => isSeenWithout(each, devices, missing))) {
          const keeps = (metric: string): boolean => !lacks.some((lack) => lack === metric);
          const { percent = 95 } = (await asked(layout, devices, keeps)).nodes.get('a') ?? {};
          expect(percent, `without the counter of ${missing}, and ${lacks.join(', ')}`).toBeGreaterThanOrEqual(90);
          expect(percent, `without the counter of ${missing}, and ${lacks.join(', ')}`).toBeLessThanOrEqual(100);
        }
      }
    },
  );

  /** How Azure moves a virtual machine: the virtual function goes, the rate window still has its samples, then it is back. */
  it.each([
    { drivers: true, flags: true, percents: [95, 95, 95, 95] },
    { drivers: true, flags: false, percents: [undefined, 95, 95, undefined] },
    { drivers: false, flags: true, percents: [95, undefined, 95, 95] },
    { drivers: false, flags: false, percents: [undefined, undefined, 95, undefined] },
  ])(
    'has its traffic once or no figure while its virtual function goes and is back: drivers $drivers, flags $flags',
    async ({ drivers, flags, percents }) => {
      const layout = LAYOUTS.find(({ name }) => name === 'Azure netvsc with accelerated networking');
      const all = devicesOf(layout!, drivers);
      const vf = all.find(({ device }) => device === 'enP1s1')!;
      const others = all.filter((each) => each !== vf);
      const { rate: _rate, ...withoutRate } = vf;
      const onlyRate: FakeDevice = { node: 'a', instance: 'a:9100', device: vf.device, rate: vf.rate! };
      const scene = new PassScene();
      scene.prometheus.keeps = (metric) => flags || metric !== 'node_network_flags';
      const found: (number | undefined)[] = [];
      for (const more of [[vf], [onlyRate], [], [withoutRate]]) {
        scene.prometheus.devices = [...others, ...more];
        found.push((await scene.next({ a: {} })).nodes.get('a')?.percent);
      }
      expect(found).toEqual(percents);
    },
  );

  it('is tested with many layouts, each with a unique name', () => {
    expect(new Set(LAYOUTS.map(({ name }) => name)).size).toBe(LAYOUTS.length);
    expect(LAYOUTS.length).toBeGreaterThanOrEqual(25);
  });
});
