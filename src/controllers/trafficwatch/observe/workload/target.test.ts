import { describe, expect, it } from 'vitest';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import { ApiError, TransportError } from '../../../../runtime/client/errors.ts';
import type { TransportRequest } from '../../../../runtime/client/transport.ts';
import { readTarget } from './targets.ts';

const selector = { matchLabels: { app: 'web' } };

/** An API server with these answers by path; any other path is not found. */
function answering(answers: Readonly<Record<string, object | Error>>) {
  return {
    request: async <R>({ method, path }: TransportRequest): Promise<R> => {
      const answer = answers[path] ?? new ApiError({ status: 404, reason: 'NotFound', method, path });
      if (answer instanceof Error) throw answer;
      return Promise.resolve(answer as R);
    },
  };
}

const read = (answers: Readonly<Record<string, object | Error>>, ref: TargetRef) =>
  readTarget(answering(answers), 'shop', ref);

describe('readTarget', () => {
  it.each<[string, string, string]>([
    ['Deployment', 'apps', 'deployments'],
    ['StatefulSet', 'apps', 'statefulsets'],
    ['ReplicaSet', 'apps', 'replicasets'],
    ['DaemonSet', 'apps', 'daemonsets'],
  ])('reads the selector of a %s', async (kind, group, plural) => {
    const answers = { [`/apis/${group}/v1/namespaces/shop/${plural}/web`]: { spec: { selector } } };
    expect(await read(answers, { apiVersion: `${group}/v1`, kind, name: 'web' })).toEqual({ selector });
  });

  const JOB = { apiVersion: 'batch/v1', kind: 'Job', name: 'web' };
  const byName = { matchLabels: { 'batch.kubernetes.io/job-name': 'web' } };

  it("takes the name of a Job, since its selector has the uid, unless the selector is the user's own", async () => {
    const job = (spec: object) => ({
      '/apis/batch/v1/namespaces/shop/jobs/web': { metadata: { name: 'web' }, spec },
    });
    expect(await read(job({ selector }), JOB)).toEqual({ selector: byName });
    expect(await read(job({ selector, manualSelector: true }), JOB)).toEqual({ selector });
  });

  it('knows the pods of a Job before it exists', async () => {
    expect(await read({}, JOB)).toMatchObject({ reason: 'TargetNotFound', expected: byName });
    expect(await read({}, { ...JOB, kind: 'CronJob' })).not.toHaveProperty('expected');
  });

  it('asks for nothing but the object, whatever the reference of an older CRD has in it', async () => {
    const asked: string[] = [];
    const request = ({ path }: TransportRequest): Promise<never> => {
      asked.push(path);
      return Promise.reject(new Error('not asked for'));
    };
    const ref = { apiVersion: 'apps/v1/deployments?watch=true&x=', kind: 'Deployment', name: '../x' };
    await readTarget({ request }, 'shop', ref);
    expect(asked).toEqual(['/apis/apps/v1%2Fdeployments%3Fwatch%3Dtrue%26x%3D/namespaces/shop/deployments/..%2Fx']);
  });

  it('takes the labels of the pod template of a CronJob, whose Jobs have selectors of their own', async () => {
    const template = { metadata: { labels: { app: 'web' } } };
    const answers = {
      '/apis/batch/v1/namespaces/shop/cronjobs/web': { spec: { jobTemplate: { spec: { template } } } },
    };
    expect(await read(answers, { apiVersion: 'batch/v1', kind: 'CronJob', name: 'web' })).toEqual({ selector });
  });

  const list = (...names: string[]) => ({
    resources: names.map((name) => ({ name, kind: name.endsWith('/scale') ? 'Scale' : 'Blue', namespaced: true })),
  });
  const blue = { apiVersion: 'example.com/v1', kind: 'Blue', name: 'web' };

  it('reads the scale of any other kind', async () => {
    const answers = {
      '/apis/example.com/v1': list('blues', 'blues/status', 'blues/scale'),
      '/apis/example.com/v1/namespaces/shop/blues/web/scale': { status: { selector: 'app=web' } },
    };
    expect(await read(answers, blue)).toEqual({
      selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] },
    });
  });

  const scaleOf = (selectorText: string) => ({
    '/apis/example.com/v1': list('blues', 'blues/scale'),
    '/apis/example.com/v1/namespaces/shop/blues/web/scale': { status: { selector: selectorText } },
  });

  it.each([
    ['rollouts-pod-template-hash', 'app=web,rollouts-pod-template-hash=687d76d795'],
    ['pod-template-hash', 'pod-template-hash in (a,b),app=web'],
    ['controller-revision-hash', 'app=web,controller-revision-hash'],
  ])('selects the pods of every revision, whatever %s the scale names', async (_label, text) => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] };
    expect(await read(scaleOf(text), blue)).toEqual({ selector });
  });

  it.each([
    'rollouts-pod-template-hash=687d76d795',
    'pod-template-hash=a,!canary',
    'controller-revision-hash=a,tier!=db',
  ])('does not take %s for a selector of the pods of others', async (text) => {
    const target = await read(scaleOf(text), blue);
    expect(target).toMatchObject({
      reason: 'TargetWithoutPods',
      message: expect.stringContaining('revision') as string,
    });
    expect(target).not.toHaveProperty('selector');
  });

  it('does not take a kind of another group for a built-in one', async () => {
    const answers = {
      '/apis/example.com/v1': {
        resources: [
          { name: 'deployments', kind: 'Deployment', namespaced: true },
          { name: 'deployments/scale', kind: 'Scale', namespaced: true },
        ],
      },
      '/apis/example.com/v1/namespaces/shop/deployments/web/scale': { status: { selector: 'of=another' } },
    };
    expect(await read(answers, { ...blue, kind: 'Deployment' })).toMatchObject({
      selector: { matchExpressions: [{ key: 'of' }] },
    });
  });

  it.each<[string, Record<string, object | Error>, string]>([
    ['an API group that is not served', {}, 'TargetKindUnknown'],
    ['a kind without a scale subresource', { '/apis/example.com/v1': list('blues') }, 'TargetKindUnknown'],
    ['an object that is missing', { '/apis/example.com/v1': list('blues', 'blues/scale') }, 'TargetNotFound'],
    [
      'a scale without a selector',
      {
        '/apis/example.com/v1': list('blues', 'blues/scale'),
        '/apis/example.com/v1/namespaces/shop/blues/web/scale': { status: {} },
      },
      'TargetWithoutPods',
    ],
  ])('says why for %s', async (_what, answers, reason) => {
    const target = await read(answers, blue);
    expect(target).toMatchObject({ reason });
    expect(target).not.toHaveProperty('selector');
  });

  it('does not take an empty selector for one of all pods', async () => {
    const answers = { '/apis/apps/v1/namespaces/shop/deployments/web': { spec: { selector: {} } } };
    const target = await read(answers, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
    expect(target).toMatchObject({ reason: 'TargetWithoutPods' });
  });

  const path = '/apis/apps/v1/namespaces/shop/deployments/web';
  it.each<[string, Error, string]>([
    [
      'what right is missing',
      new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path }),
      "grant the operator's ServiceAccount the verb get",
    ],
    ['what failed', new TransportError('connection refused', { failure: 'connection' }), 'connection refused'],
  ])('says %s', async (_what, error, message) => {
    const target = await read({ [path]: error }, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
    expect(target).toMatchObject({
      reason: 'TargetUnreadable',
      message: expect.stringContaining(message) as string,
    });
  });
});
