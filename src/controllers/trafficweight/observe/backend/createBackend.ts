import { ConfigMapBackend, type ReadConfigMap } from '../../../../weights/backend/configMap.ts';
import type { WeightBackend } from '../../../../weights/backend/backend.ts';
import { PrometheusBackend, type AskPrometheus } from '../../../../weights/backend/prometheus.ts';
import type { BackendOptions } from './backends.ts';

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
      return new (await import('../../../../weights/backend/dynamoDb.ts')).DynamoDbBackend(options);
  }
}
