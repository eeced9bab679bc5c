import type { PrometheusClient } from '../../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';

/**
 * Wraps a client of the deployed Prometheus, so that it never queries a Prometheus that somebody else created under the
 * same name. `query` throws PrometheusError BadConfiguration while there is one.
 *
 * @param foreign returns the message about the foreign object; undefined if there is none
 */
export function askingOnlyOurs(client: PrometheusClient, foreign: () => string | undefined): PrometheusClient {
  return {
    async query(query) {
      const problem = foreign();
      if (problem !== undefined) throw new PrometheusError('BadConfiguration', problem);
      return client.query(query);
    },
    close: () => client.close(),
  };
}
