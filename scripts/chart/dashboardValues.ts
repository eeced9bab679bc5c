import { z } from 'zod';

/** The values about dashboards. The defaults are what Grafana's own chart looks for. */
export const dashboards = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Create a ConfigMap for each dashboard.'),
    label: z.string().min(1).default('grafana_dashboard').describe('Label by which Grafana finds them.'),
    labelValue: z.string().default('1').describe('Its value.'),
    annotations: z
      .record(z.string(), z.string())
      .default({})
      .describe('Annotations on them, such as grafana_folder with the folder to show them in.'),
    namespace: z
      .string()
      .default('')
      .describe("Namespace for them, where Grafana looks in one only; empty: the release's."),
  })
  .prefault({})
  .describe('Dashboards for Grafana.');
