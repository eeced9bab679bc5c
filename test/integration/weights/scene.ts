import type { V1PolicyRule } from '@kubernetes/client-node';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../src/api/trafficweight/trafficWeight.ts';
import { findCondition, type Condition } from '../../../src/runtime/controller/conditions.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { installCrd, trafficWeightCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd } from '../../harness/externalDns.ts';
import { AUDIT_OF_USERS } from '../../harness/audit.ts';
import { startFixture, type Fixture } from '../../harness/fixture.ts';
import { userWith } from '../rights.ts';
import { allRights } from './rights.ts';

/** For what an operator does: it decides changes within a second together, and reads a table every 20 s. */
export const WAIT = { timeout: 120_000, interval: 200 };

/** A cluster with both CRDs, and the process for DNS weights with these rights; its requests are audited. */
export interface WeightScene {
  readonly f: Fixture;
  /** Starts the operator, again after it was terminated. */
  startOperator(): Promise<void>;
}

interface SceneOptions {
  readonly rights?: V1PolicyRule[];
  readonly args?: readonly string[];
  readonly apiServerFlags?: readonly string[];
}

/**
 * Starts the API server, without the operator.
 *
 * @param user of the operator
 * @param options.args of the operator
 * @param options.apiServerFlags in addition to the flags of every API server
 */
export async function startScene(
  user: string,
  { rights = allRights(), args = [], apiServerFlags }: SceneOptions = {},
): Promise<WeightScene> {
  const plane = apiServerFlags === undefined ? {} : { plane: { apiServerFlags } };
  const f = await startFixture({ nodes: ['n1'], auditPolicy: AUDIT_OF_USERS, ...plane });
  await installCrd(f.client, trafficWeightCrd(), TRAFFIC_WEIGHTS);
  await installCrd(f.client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  const kubeconfig = await userWith(f, user, rights);
  return {
    f,
    async startOperator() {
      await f.startOperator(args, { kubeconfig, command: 'trafficweights' });
    },
  };
}

/** The TrafficWeight of this name as it is. */
export function weightNamed(f: Fixture, name = 'main'): Promise<TrafficWeight> {
  return f.client.get(TRAFFIC_WEIGHTS, { name });
}

/** A condition of a TrafficWeight. */
export async function conditionOf(f: Fixture, type: string, name?: string): Promise<Condition | undefined> {
  return findCondition((await weightNamed(f, name)).status?.conditions, type);
}
