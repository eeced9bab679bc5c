import type { PrometheusClient } from '../../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';

/**
 * A client of the operator's own Prometheus that asks nobody else's. Its query throws PrometheusError BadConfiguration,
 * too, for as long as somebody else's object has the name of ours.
 *
 * @param foreign what to say about that object; undefined while there is none
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
