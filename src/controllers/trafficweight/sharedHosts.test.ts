import { describe, expect, it } from 'vitest';
import {
  decide,
  HOST,
  ingress,
  records,
  route,
  says,
  TAKEN,
  weights,
  written,
  type Rules,
  type World,
} from './testing/world.ts';

/** An Ingress `b` with a Service `b`, next to the Ingress `web` of `team-a` with the Service `web`. */
const b = (over: Parameters<typeof ingress>[1] = {}) => ingress('team-a', { name: 'b', age: 2, service: 'b', ...over });
const withB = (over: Parameters<typeof ingress>[1] = {}): World => ({ ingresses: [ingress('team-a'), b(over)] });
const NGINX = 'nginx.ingress.kubernetes.io/canary';

describe('several Ingresses with one host and the same addresses', () => {
  it('have one record, with the Services of all', () => {
    expect(weights({ ...withB(), ready: ['team-a/web', 'team-a/b'] })).toEqual([
      `team-a ${HOST}: undefined SharedHost`,
      `team-a ${HOST}: 75 ClusterWeight`,
    ]);
    expect(records({ ...withB(), ready: ['team-a/web', 'team-a/b'] })).toEqual({ [HOST]: '192.0.2.1 75' });
    expect(records({ ...withB(), ready: ['team-a/web'] })).toEqual({ [HOST]: '192.0.2.1 0' });
  });

  it('have no conflict before the second one has an address, and the second does not count', () => {
    expect(weights(withB({ address: undefined }))).toEqual([
      `team-a ${HOST}: undefined SharedHost`,
      `team-a ${HOST}: 75 ClusterWeight`,
    ]);
  });

  it('of several namespaces have the weight of the first', () => {
    const ingresses = [ingress('team-a'), ingress('team-b', { age: 2, service: 'none' })];
    expect(weights({ ingresses })).toEqual([
      `team-a ${HOST}: 75 ClusterWeight`,
      `team-b ${HOST}: undefined OtherNamespace`,
    ]);
  });

  it('also share it with an HTTPRoute', () => {
    const routes = [route('team-a', { age: 2, rules: [{ backendRefs: [{ name: 'b' }] }] })];
    const world = { ingresses: [ingress('team-a')], routes };
    expect(records({ ...world, ready: ['team-a/web', 'team-a/b'] })).toEqual({ [HOST]: '192.0.2.1 75' });
    expect(records({ ...world, ready: ['team-a/web'] })).toEqual({ [HOST]: '192.0.2.1 0' });
  });

  it.each<[string, Parameters<typeof ingress>[1], number]>([
    ['a solver of cert-manager', { labels: { 'acme.cert-manager.io/http01-solver': 'true' } }, 75],
    ['a canary without a weight', { annotations: { [NGINX]: 'true', [`${NGINX}-by-header`]: 'x' } }, 75],
    ['a canary with the weight 0', { annotations: { [NGINX]: 'true', [`${NGINX}-weight`]: '0' } }, 75],
    ['a canary with a weight', { annotations: { [NGINX]: 'true', [`${NGINX}-weight`]: '5' } }, 0],
    ['an Ingress that is no canary', { annotations: { [NGINX]: 'false' } }, 0],
  ])('have this weight if the Service of the second is not ready: %s', (_, over, weight) => {
    expect(records(withB(over))).toEqual({ [HOST]: `192.0.2.1 ${weight}` });
    expect(records({ ingresses: [b(over)], ready: [] })).toEqual({ [HOST]: `192.0.2.1 ${weight}` });
  });

  it('with other addresses are a conflict, and its message names both', () => {
    const [second] = decide(withB({ address: '192.0.2.2' })).sources;
    expect(second?.hosts).toMatchObject([
      {
        reason: 'Conflict',
        problem: `team-a/web has the records of ${HOST}, which lead to 192.0.2.1 instead of 192.0.2.2. Give both the same load balancer, or remove the host from one of the two`,
      },
    ]);
  });
});

describe('a backend of the AWS Load Balancer Controller', () => {
  const alb = (action: string | undefined, ready: string[] = []): Record<string, string> => {
    const annotations: Record<string, string> =
      action === undefined ? {} : { 'alb.ingress.kubernetes.io/actions.act': action };
    const one = ingress('team-a', { service: 'act', portName: 'use-annotation', annotations });
    return records({ ingresses: [one], ready });
  };
  const forward = (groups: object[]) => JSON.stringify({ type: 'forward', forwardConfig: { targetGroups: groups } });
  const ARN = { targetGroupARN: 'arn:aws:x', weight: 50 };

  it.each<[string, string | undefined]>([
    ['that redirects', '{"type":"redirect","redirectConfig":{"protocol":"HTTPS","statusCode":"HTTP_301"}}'],
    ['that answers itself', '{"type":"fixed-response","fixedResponseConfig":{"statusCode":"503"}}'],
    ['in the form of version 1', '{"Type":"redirect","RedirectConfig":{"StatusCode":"HTTP_301"}}'],
    ['that forwards to a target group of AWS', '{"type":"forward","targetGroupARN":"arn:aws:x"}'],
    ['whose Service has the weight 0', forward([ARN, { serviceName: 'none', servicePort: 80, weight: 0 }])],
    ['whose name no Service can have', forward([{ serviceName: 'team-b/web' }])],
    ['without its annotation', undefined],
    ['that cannot be read', '{"type":'],
    ['that has another form', '[{"type":"forward"}, null]'],
    [
      'with more target groups than AWS allows',
      forward(Array.from({ length: 6 }, (_, n) => ({ serviceName: `x${n}` }))),
    ],
    ['of null', 'null'],
  ])('counts for nothing: %s', (_, action) => {
    expect(alb(action)).toEqual({ [HOST]: '192.0.2.1 75' });
  });

  it.each<[string, string]>([
    [
      'all Services',
      forward([
        { serviceName: 'x', weight: 9 },
        { serviceName: 'y', servicePort: '80' },
      ]),
    ],
    [
      'all Services in the form of version 1',
      '{"Type":"forward","ForwardConfig":{"TargetGroups":[{"ServiceName":"x"},{"ServiceName":"y","Weight":1}]}}',
    ],
  ])('that forwards counts %s', (_, action) => {
    expect(alb(action, ['team-a/x', 'team-a/y'])).toEqual({ [HOST]: '192.0.2.1 75' });
    expect(alb(action, ['team-a/x'])).toEqual({ [HOST]: '192.0.2.1 0' });
    expect(alb(action, ['team-a/y'])).toEqual({ [HOST]: '192.0.2.1 0' });
  });
});

describe('a Gateway that does not resolve all backends', () => {
  const notResolved = (reason: string) => [TAKEN[0]!, says('ResolvedRefs', 'False', { reason })];
  const WEB = { name: 'web' };
  const IDLE = { name: 'none', weight: 0 };
  const mirrored = { backendRefs: [WEB], filters: [{ type: 'RequestMirror' }] };

  it.each<[string, string, Rules, number]>([
    ['one without traffic is missing', 'BackendNotFound', [{ backendRefs: [WEB, IDLE] }], 75],
    ['one without traffic is not permitted', 'RefNotPermitted', [{ backendRefs: [WEB, IDLE] }], 75],
    ['one that gets a copy is missing', 'BackendNotFound', [mirrored], 75],
    ['one with traffic is not supported', 'UnsupportedProtocol', [{ backendRefs: [WEB, IDLE] }], 0],
    [
      'one with traffic may be not permitted',
      'RefNotPermitted',
      [{ backendRefs: [{ ...WEB, namespace: 'x' }, IDLE] }],
      0,
    ],
    ['one with traffic may be of no known kind', 'InvalidKind', [{ backendRefs: [{ ...WEB, kind: 'X' }, IDLE] }], 0],
    ['one with traffic is missing', 'BackendNotFound', [{ backendRefs: [WEB] }], 0],
    ['one with traffic is missing, too', 'BackendNotFound', [{ backendRefs: [{ name: 'gone' }, IDLE] }], 0],
  ])('%s (%s): the weight of %j is %d', (_, reason, rules, weight) => {
    const one = route('team-a', { rules, conditions: notResolved(reason) });
    expect(records({ routes: [one], ready: ['team-a/web', 'x/web'] })).toEqual({ [HOST]: `192.0.2.1 ${weight}` });
    expect(written({ routes: [one] })).toHaveLength(1);
  });
});
