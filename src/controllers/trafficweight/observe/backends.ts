import { parseTrafficWeightSpec } from '../../../api/trafficweight/schema.ts';
import { DEFAULT_REGION, DEFAULT_TABLE } from '../../../api/trafficweight/terms.ts';
import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { DynamoDbOptions } from '../../../weights/backend/dynamoDb.ts';
import { isInForce } from '../decide/status.ts';
import type { BackendRow } from './backendFeed.ts';

/** A TrafficWeight and its spec, which has a table. */
interface TableUser {
  readonly weight: TrafficWeight;
  readonly spec: TrafficWeightSpec;
  readonly options: DynamoDbOptions;
}

/** Identifies the row of a spec; undefined with a static weight. @param endpointUrl in place of AWS' own */
export function rowIdOf(spec: TrafficWeightSpec, endpointUrl: string | undefined): string | undefined {
  const options = optionsOf(spec, endpointUrl);
  return options && JSON.stringify(options);
}

/** The rows of tables that TrafficWeights name. Those with the same table and cluster name share a row. */
export function rowsOf(
  weights: readonly TrafficWeight[],
  endpointUrl: string | undefined,
): BackendRow<DynamoDbOptions>[] {
  const users = weights.flatMap((weight) => tableUserOf(weight, endpointUrl));
  const byRow = Map.groupBy(users, ({ options }) => JSON.stringify(options));
  return [...byRow].flatMap(([id, [first, ...others]]) => (first === undefined ? [] : [rowOf(id, first, others)]));
}

function tableUserOf(weight: TrafficWeight, endpointUrl: string | undefined): TableUser[] {
  const parsed = parseTrafficWeightSpec(weight);
  if ('problems' in parsed) return [];
  const options = optionsOf(parsed.spec, endpointUrl);
  return options === undefined ? [] : [{ weight, spec: parsed.spec, options }];
}

function optionsOf(
  { clusterName, backend: { dynamodb } }: TrafficWeightSpec,
  endpointUrl: string | undefined,
): DynamoDbOptions | undefined {
  if (dynamodb === undefined) return undefined;
  const { tableName = DEFAULT_TABLE, region = DEFAULT_REGION } = dynamodb;
  return { tableName, region, endpointUrl, clusterName };
}

/** A row that was lost, or is in another table by now, gets the weight that its records have. */
function rowOf(id: string, first: TableUser, others: readonly TableUser[]): BackendRow<DynamoDbOptions> {
  const users = [first, ...others];
  const last = users.map(({ weight }) => weight.status?.desiredWeight).find((weight) => weight !== undefined);
  const inForce = new Set(users.map(inForceOf));
  const [common] = inForce;
  return {
    ...{ id, options: first.options },
    names: users.map(({ weight }) => weight.metadata?.name ?? ''),
    initialWeight: last ?? first.spec.backend.dynamodb?.initialWeight ?? 0,
    inForce: inForce.size === 1 ? common : undefined,
  };
}

/** The weight that a TrafficWeight, as it is now, has in force; undefined if there is none. */
function inForceOf({ weight: { metadata, status }, spec }: TableUser): number | undefined {
  if (status === undefined || status.observedGeneration !== metadata?.generation) return undefined;
  return isInForce(status, spec) ? status.desiredWeight : undefined;
}
