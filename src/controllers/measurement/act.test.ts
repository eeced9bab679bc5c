import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Applier } from '../../runtime/apply/apply.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { carryOut, type Failure } from '../../runtime/objectSet/act.ts';
import { idOf } from '../../runtime/objectSet/member.ts';
import { planSet, type Plan } from '../../runtime/objectSet/plan.ts';
import { problemOf } from './act.ts';
import { measurementSet, switchedOff } from './components/components.ts';
import { FIELD_MANAGER } from './names.ts';
import { defaultMeasurementOptions } from './options.ts';
import { createFakeClient, forbidden } from '../../runtime/objectSet/testing/fakeClient.ts';
import type { FakeClient } from '../../runtime/objectSet/testing/fakeClient.ts';

/** All components, of which nothing is there. */
function plan(options = defaultMeasurementOptions('op')): Plan {
  const { owner, members } = measurementSet(options);
  const observed = members.map((member) => ({ member, live: undefined }));
  return planSet({ owner, observed, off: switchedOff(options), unknown: new Set(), strangers: [] });
}

function carry(client: FakeClient, what: Plan): Promise<Failure[]> {
  return carryOut(what, {
    client,
    applier: new Applier({ client, fieldManager: FIELD_MANAGER, logger: pino({ level: 'silent' }) }),
  });
}

describe('measuring', () => {
  it('makes a namespace before what is in it, and configuration before what reads it', async () => {
    const client = createFakeClient();
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

  it('goes on with Prometheus when the exporter cannot be made, and says what failed', async () => {
    const client = createFakeClient();
    client.refuse = (write) => {
      if (write.startsWith('apply Namespace')) throw forbidden();
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
  ])('without %s leaves out %j, which needs it, and makes the rest', async (refused, without) => {
    const client = createFakeClient();
    client.refuse = (write) => {
      if (write === `apply ${refused}`) throw forbidden();
    };
    await carry(client, plan());
    const all = plan().apply.map(({ member }) => idOf(member));
    expect(all.filter((id) => !client.objects.has(id))).toEqual([refused, ...without]);
  });

  it('says what to do about a claim that cannot be as asked, after all else of Prometheus', async () => {
    const options = defaultMeasurementOptions('op');
    options.prometheus.volume = { kind: 'claim', size: '1Gi' };
    const client = createFakeClient();
    const detail = 'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity';
    client.refuse = (write) => {
      if (write.includes('PersistentVolumeClaim'))
        throw new ApiError({ status: 422, reason: 'Invalid', detail, method: 'PATCH', path: '/' });
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
