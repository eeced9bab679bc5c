import { load } from 'js-yaml';
import type { RulesSpec } from '../../../../api/trafficstack/trafficStack.ts';
import { apiVersionOf } from '../../../../runtime/client/resource.ts';
import { PROMETHEUS_RULES } from '../../../../runtime/client/resources.ts';
import type { BuiltInObject } from '../../../contract/builtIn.ts';
import { PART_OF } from '../../../contract/labels.ts';
import { defaultMeasurementOptions } from '../../options.ts';
import { renderAlertingRules } from './alerts.ts';
import { renderRecordingRules } from './recording.ts';

/** Returns all rule groups for a Prometheus that scrapes the operator, as in the PrometheusRule of the chart. */
export function ruleGroups(): object[] {
  const options = { ...defaultMeasurementOptions(''), weights: true };
  const files = [renderRecordingRules(options), renderAlertingRules(options)];
  return files.flatMap((content) => (load(content) as { groups: object[] }).groups);
}

/**
 * Renders the PrometheusRule of a stack, with the name and the content of the PrometheusRule of the chart.
 *
 * @param operatorNamespace the default namespace
 */
export function prometheusRuleOf(settings: RulesSpec = {}, operatorNamespace: string): BuiltInObject {
  const { namespace = operatorNamespace, labels } = settings;
  return {
    resource: PROMETHEUS_RULES,
    object: {
      ...{ apiVersion: apiVersionOf(PROMETHEUS_RULES), kind: PROMETHEUS_RULES.kind },
      metadata: { name: PART_OF, namespace, labels: { ...labels, 'app.kubernetes.io/part-of': PART_OF } },
      spec: { groups: ruleGroups() },
    } as BuiltInObject['object'],
  };
}
