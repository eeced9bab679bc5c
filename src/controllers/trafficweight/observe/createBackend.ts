import type { WeightBackend } from '../../../weights/backend/backend.ts';
import { PrometheusBackend, type AskPrometheus } from '../../../weights/backend/prometheus.ts';
import type { BackendOptions } from './backends.ts';

/** Creates the backend of a row. */
export async function createBackend(options: BackendOptions, ask: AskPrometheus): Promise<WeightBackend> {
  if (options.kind === 'prometheus') return new PrometheusBackend(options, ask);
  // Only then: the AWS SDK takes 29 MiB and a quarter of a second.
  return new (await import('../../../weights/backend/dynamoDb.ts')).DynamoDbBackend(options);
}
