import { Gauge, type Registry } from 'prom-client';

const NAME = 'traffic_operator_placement_webhook_ready';
const HELP =
  '1 if the placement webhook has a certificate and a ready pod, 0 if not. Absent without the webhook, with the placement policy, ' +
  'and without TrafficWatches with targetRef or podSelector.';

/** Registers whether the placement webhook is ready. @param isReady asked at each scrape; undefined: there is no series */
export function registerWebhookGauge(registry: Registry, isReady: () => boolean | undefined = () => undefined): void {
  new Gauge({
    name: NAME,
    help: HELP,
    registers: [registry],
    collect() {
      const ready = isReady();
      if (ready === undefined) this.remove();
      else this.set(ready ? 1 : 0);
    },
  });
}
