import {
  parseTrafficWeightSpec,
  type TrafficWeight,
  type TrafficWeightSpec,
} from '../../../api/trafficweight/trafficWeight.ts';
import {
  DEFAULT_FULL_VALUE,
  DEFAULT_MIN_CHANGE,
  DEFAULT_REGION,
  DEFAULT_TABLE,
  DEFAULT_WEIGHT_KEY,
} from '../../../api/trafficweight/terms.ts';
import { type Client, getIfExists } from '../../../runtime/client/client.ts';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import type { WeightBackend } from '../../../weights/backend/backend.ts';
import { ConfigMapBackend, type ConfigMapOptions, type ReadConfigMap } from '../../../weights/backend/configMap.ts';
import type { DynamoDbOptions } from '../../../weights/backend/dynamoDb.ts';
import { PrometheusBackend, type AskPrometheus, type MeasuredOptions } from '../../../weights/backend/prometheus.ts';
import type { BackendRow } from './backendFeed.ts';

/** The kind and the options of a backend. */
export type BackendOptions =
  | ({ readonly kind: 'dynamodb' } & DynamoDbOptions)
  | ({ readonly kind: 'prometheus' } & MeasuredOptions)
  | ({ readonly kind: 'configMap' } & ConfigMapOptions);

/** A TrafficWeight whose spec has a backend to read. */
interface User {
  readonly weight: TrafficWeight;
  readonly spec: TrafficWeightSpec;
  readonly options: BackendOptions;
}

/** Returns the ID of the row of a spec; undefined with a static weight. @param endpointUrl of DynamoDB, instead of the AWS endpoint */
export function rowIdOf(spec: TrafficWeightSpec, endpointUrl: string | undefined): string | undefined {
  const options = optionsOf(spec, endpointUrl);
  return options && JSON.stringify(options);
}

/**
 * Returns the rows of all TrafficWeights that are not being deleted. TrafficWeights with the same table and cluster name, or
 * the same query, share a row.
 */
export function rowsOf(
  weights: readonly TrafficWeight[],
  endpointUrl: string | undefined,
): BackendRow<BackendOptions>[] {
  const living = weights.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const users: User[] = [];
  const invalid = new Set<unknown>();
  for (const weight of living) {
    const parsed = parseTrafficWeightSpec(weight);
    if ('problems' in parsed) invalid.add(clusterOf(weight));
    else users.push(...userOf(weight, parsed.spec, endpointUrl));
  }
  const byRow = Map.groupBy(users, ({ options }) => JSON.stringify(options));
  return [...byRow].flatMap(([id, [first, ...others]]) =>
    first === undefined ? [] : [rowOf(id, [first, ...others], !invalid.has(first.spec.clusterName))],
  );
}

/** Returns the cluster name of an invalid TrafficWeight: its records stay, and still belong to this cluster. */
function clusterOf({ spec }: TrafficWeight): unknown {
  return (spec as Partial<TrafficWeightSpec> | undefined)?.clusterName;
}

function userOf(weight: TrafficWeight, spec: TrafficWeightSpec, endpointUrl: string | undefined): User[] {
  const options = optionsOf(spec, endpointUrl);
  return options === undefined ? [] : [{ weight, spec, options }];
}

function optionsOf(
  { clusterName, backend: { dynamodb, prometheus, configMap } }: TrafficWeightSpec,
  endpointUrl: string | undefined,
): BackendOptions | undefined {
  if (dynamodb !== undefined) {
    const { tableName = DEFAULT_TABLE, region = DEFAULT_REGION } = dynamodb;
    return { kind: 'dynamodb', tableName, region, endpointUrl, clusterName };
  }
  if (configMap !== undefined)
    return { kind: 'configMap', name: configMap.name, key: configMap.key ?? DEFAULT_WEIGHT_KEY };
  if (prometheus === undefined) return undefined;
  const { query, fullValue = DEFAULT_FULL_VALUE, minChange = DEFAULT_MIN_CHANGE } = prometheus;
  return { kind: 'prometheus', query, fullValue: Number(fullValue), minChange };
}

/** Creates a row. If the backend lost it, or another table is used now, it gets the last weight of a TrafficWeight. */
function rowOf(id: string, users: readonly [User, ...User[]], mayAcknowledge: boolean): BackendRow<BackendOptions> {
  const [{ options, spec }] = users;
  const last = users
    .map(({ weight: { status } }) => status?.desiredWeight ?? status?.currentWeight)
    .find((weight) => weight !== undefined);
  return {
    ...{ id, options, mayAcknowledge },
    names: users.map(({ weight }) => weight.metadata?.name ?? ''),
    lastWeight: last,
    initialWeight: spec.backend.dynamodb?.initialWeight ?? 0,
    allowAllZero: users.every((user) => user.spec.backend.dynamodb?.allowAllZero === true),
  };
}

/** The functions that backends read with. */
export interface BackendSources {
  readonly ask: AskPrometheus;
  readonly configMap: ReadConfigMap;
}

/** Creates the backend of a row. */
export async function createBackend(
  options: BackendOptions,
  { ask, configMap }: BackendSources,
): Promise<WeightBackend> {
  switch (options.kind) {
    case 'prometheus':
      return new PrometheusBackend(options, ask);
    case 'configMap':
      return new ConfigMapBackend(options, configMap);
    case 'dynamodb':
      // Import it only if it is used: the AWS SDK takes 29 MiB and a quarter of a second.
      return new (await import('../../../weights/backend/dynamoDb.ts')).DynamoDbBackend(options);
  }
}

/** Returns a function that reads ConfigMaps of the operator's namespace. */
export function configMapsIn(namespace: string, client: Pick<Client, 'get'>): ReadConfigMap {
  return async (name, signal) => {
    const found = await getIfExists(client, CONFIG_MAPS, { namespace, name }, { signal });
    return found === undefined ? undefined : (found.data ?? {});
  };
}
