import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Applier } from '../../runtime/apply/apply.ts';
import { ApiError, NotLeaderError } from '../../runtime/client/errors.ts';
import { carryOut } from './act.ts';
import { allComponents } from './components/components.ts';
import type { Observation, Plan } from './decide/plan.ts';
import { planComponents } from './decide/plan.ts';
import { FIELD_MANAGER } from './names.ts';
import { defaultMeasurementOptions } from './options.ts';
import { createFakeClient, forbidden } from '../../runtime/objectSet/testing/fakeClient.ts';
import type { FakeClient } from '../../runtime/objectSet/testing/fakeClient.ts';

const COMPONENTS = allComponents(defaultMeasurementOptions('op'));

function plan(changes: Partial<Observation> = {}): Plan {
  const components = COMPONENTS.map((component) => ({ component, live: undefined }));
  const enabled = { exporter: true, prometheus: true };
  return planComponents({ components, enabled, unknown: new Set(), strangers: [], ...changes });
}

function carry(client: FakeClient, what: Plan): ReturnType<typeof carryOut> {
  return carryOut(what, {
    client,
    applier: new Applier({ client, fieldManager: FIELD_MANAGER, logger: pino({ level: 'silent' }) }),
  });
}

describe('carryOut', () => {
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
    expect(failures.map(({ problem }) => `${problem.reason} ${problem.object}`)).toEqual([
      'WriteFailed Namespace op-node-exporter',
    ]);
    expect(client.writes.every((write) => write.includes(' op/prometheus'))).toBe(true);
    expect(client.writes).toHaveLength(4);
  });

  it('says what to do about a claim that cannot be as asked, after all else of Prometheus', async () => {
    const options = defaultMeasurementOptions('op');
    options.prometheus.volume = { kind: 'claim', size: '1Gi' };
    const components = allComponents(options).map((component) => ({ component, live: undefined }));
    const client = createFakeClient();
    const detail = 'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity';
    client.refuse = (write) => {
      if (write.includes('PersistentVolumeClaim'))
        throw new ApiError({ status: 422, reason: 'Invalid', detail, method: 'PATCH', path: '/' });
    };
    const [failure, ...others] = await carry(client, plan({ components }));
    expect(others).toEqual([]);
    expect(failure?.problem).toMatchObject({
      reason: 'VolumeNotChanged',
      object: 'PersistentVolumeClaim op/prometheus',
    });
    expect(failure?.problem.message).toMatch(
      /^spec.resources.* status.capacity; a claim can only grow.* --prometheus-storage-size .* or delete the claim/,
    );
    expect(client.writes.at(-1)).toBe('apply Deployment op/prometheus');
  });

  it('stops at once when this process does not lead', async () => {
    const client = createFakeClient();
    client.refuse = () => {
      throw new NotLeaderError();
    };
    await expect(carry(client, plan())).rejects.toThrow(NotLeaderError);
  });

  it('deletes the very object that was looked at, not one that took its name since', async () => {
    const [component] = COMPONENTS.slice(-1) as [(typeof COMPONENTS)[0]];
    const withUid = (uid: string): object => ({
      ...component.object,
      metadata: Object.assign({}, component.object.metadata, { uid }),
    });
    const client = createFakeClient(withUid('new'));
    const off = plan({
      components: [{ component, live: withUid('old') }],
      enabled: { exporter: true, prometheus: false },
    });
    const failures = await carry(client, off);
    expect(failures.map(({ error }) => (error as Error).message)).toEqual([expect.stringContaining('Conflict')]);
    expect(client.objects.size).toBe(1);
  });
});
