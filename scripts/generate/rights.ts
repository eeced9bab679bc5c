import type { ControllerModule } from '../../src/controllers/contract/module.ts';
import type { ControllerRights, Rights, Rule } from '../../src/controllers/contract/rights.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { SERVER_CLUSTER_RULES, SERVER_RULES } from '../../src/connectivity/objects/objects.ts';
import type { GeneratedFile } from './file.ts';

const HEADER = `{{/* Generated from the controllers' rights in src/controllers by \`make generate\`. Do not edit. */}}`;
/** Placeholder for the operator's namespace, which only helm knows. */
const NAMESPACE = 'RELEASE-NAMESPACE';

/**
 * The rights of the controllers as named templates, which the roles of the chart include in addition to the rights of the
 * process, some only with a value, and the rights of the connectivity server for roles of its own.
 */
export function rights(controllers: readonly ControllerModule[] = CONTROLLERS): GeneratedFile[] {
  const all = controllers.map((controller) => controller.rights(NAMESPACE));
  const content = [
    HEADER,
    template('controller.cluster', all, ({ controller }) => controller),
    template('controller.own', all, ({ controller }) => controller),
    template('cleanup.cluster', all, ({ cleanup }) => cleanup),
    template('cleanup.own', all, ({ cleanup }) => cleanup),
    ...all
      .flatMap(({ onlyWith = [] }) => onlyWith)
      .flatMap(({ values, cluster, own, namespaces }) => [
        rulesTemplate(`${values.join('.')}.cluster`, cluster),
        rulesTemplate(`${values.join('.')}.own`, own),
        ...(namespaces === undefined ? [] : [rulesTemplate(`${values.join('.')}.namespaces`, namespaces)]),
      ]),
    rulesTemplate('connectivityServer.cluster', SERVER_CLUSTER_RULES),
    rulesTemplate('connectivityServer.own', SERVER_RULES),
  ].join('\n\n');
  return [{ path: 'charts/traffic-operator/templates/_rights.tpl', content: `${content}\n` }];
}

function template(name: string, all: readonly ControllerRights[], whose: (one: ControllerRights) => Rights): string {
  const where = name.endsWith('.own') ? 'own' : 'cluster';
  return rulesTemplate(
    name,
    all.flatMap((one) => whose(one)[where]),
  );
}

function rulesTemplate(name: string, rules: readonly Rule[]): string {
  return [`{{- define "traffic-operator.rights.${name}" -}}`, ...rules.map(ruleText), '{{- end -}}'].join('\n');
}

/** One rule as YAML, with lists in JSON form. */
function ruleText({ why, apiGroups, resources, resourceNames, verbs }: Rule): string {
  const lines = [
    ...(why === undefined ? [] : [`# ${why}`]),
    `- apiGroups: ${list(apiGroups)}`,
    `  resources: ${list(resources)}`,
    ...(resourceNames === undefined ? [] : [`  resourceNames: ${list(resourceNames)}`]),
    `  verbs: ${list(verbs)}`,
  ];
  return lines.join('\n');
}

function list(texts: readonly string[] | undefined): string {
  const text = `[${(texts ?? []).map((one) => `'${one}'`).join(', ')}]`;
  if (text.includes('{{')) throw new Error(`${text} has {{ in it, which helm would take for its own`);
  return text.replaceAll(NAMESPACE, '{{ .Release.Namespace }}');
}
