import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Applier } from '../../runtime/apply/apply.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import { carryOut, type Failure } from '../../runtime/objectSet/act.ts';
import { idOf } from '../../runtime/objectSet/objectSet.ts';
import { planSet, type Plan } from '../../runtime/objectSet/plan.ts';
import { problemOf } from './reconcile.ts';
import { measurementSet } from './components/components.ts';
import { switchedOff } from './model/stackGroups.ts';
import { FIELD_MANAGER } from './names.ts';
import { defaultMeasurementOptions } from './options.ts';
import { FakeApi, refusal } from '../../runtime/testing/fakeApi/fakeApi.ts';

/** The plan for an empty cluster. */
function plan(options = defaultMeasurementOptions('op')): Plan {
  const { owner, members } = measurementSet(options);
  const observed = members.map((member) => ({ member, live: undefined }));
  return planSet({ owner, observed, off: switchedOff(options), unknown: new Set(), strangers: [] });
}

function carry(client: FakeApi, what: Plan): Promise<Failure[]> {
  return carryOut(what, {
    client,
    applier: new Applier({ client, fieldManager: FIELD_MANAGER, logger: pino({ level: 'silent' }) }),
  });
}

describe('measuring', () => {
  it('creates a namespace before its objects, and configuration before its users', async () => {
    const client = new FakeApi();
    expect(await carry(client, plan())).toEqual([]);
    expect(client.writes).toEqual([
      'apply Namespace op-node-exporter',
      'apply ServiceAccount op-node-exporter/node-exporter',
      'apply Service op-node-exporter/node-exporter',
      'apply DaemonSet op-node-exporter/node-exporter',
      'apply ServiceAccount op/prometheus',
      'apply ConfigMap op/prometheus-config',
      'apply Service op/prometheus',
      'apply Deployment op/prometheus',
    ]);
  });

  it('continues with Prometheus if the exporter cannot be created, and reports the failure', async () => {
    const client = new FakeApi();
    client.intercept = (call) => {
      if (call.what === 'Namespace') throw refusal(call, 403, 'Forbidden');
      return undefined;
    };
    const failures = await carry(client, plan());
    expect(failures.map(problemOf).map(({ reason, object }) => `${reason} ${object}`)).toEqual([
      'WriteFailed Namespace op-node-exporter',
    ]);
    expect(client.writes.every((write) => write.includes(' op/prometheus'))).toBe(true);
    expect(client.writes).toHaveLength(4);
  });

  it.each([
    ['ServiceAccount op-node-exporter/node-exporter', ['DaemonSet op-node-exporter/node-exporter']],
    ['Service op-node-exporter/node-exporter', []],
    ['ServiceAccount op/prometheus', ['Deployment op/prometheus']],
    ['ConfigMap op/prometheus-config', ['Deployment op/prometheus']],
    ['Service op/prometheus', []],
  ])('without %s leaves out %j, which depend on it, and creates the rest', async (refused, without) => {
    const client = new FakeApi();
    client.intercept = (call) => {
      if (`${call.what} ${keyOf({ metadata: call })}` === refused) throw refusal(call, 403, 'Forbidden');
      return undefined;
    };
    await carry(client, plan());
    const all = plan().apply.map(({ member }) => idOf(member));
    expect(all.filter((id) => !client.objects.has(id))).toEqual([refused, ...without]);
  });

  it('says what to do about a claim that cannot be changed, and writes the rest of Prometheus first', async () => {
    const options = defaultMeasurementOptions('op');
    options.prometheus.volume = { kind: 'claim', size: '1Gi' };
    const client = new FakeApi();
    const detail = 'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity';
    client.intercept = (call) => {
      if (call.what === 'PersistentVolumeClaim') throw refusal(call, 422, 'Invalid', detail);
      return undefined;
    };
    const [problem, ...others] = (await carry(client, plan(options))).map(problemOf);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      reason: 'VolumeNotChanged',
      object: 'PersistentVolumeClaim op/prometheus',
    });
    expect(problem?.message).toMatch(
      /^spec.resources.* status.capacity; a claim can only grow.* --prometheus-storage-size .* or delete the claim/,
    );
    expect(client.writes.at(-1)).toBe('apply Deployment op/prometheus');
  });
});
