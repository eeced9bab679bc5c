{{/* What every process that runs controllers needs: events, and with metrics.secure to ask who may read its metrics. */}}
{{- define "traffic-operator.processClusterRights" -}}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- include "traffic-operator.metricsRights" . }}
{{- end }}

{{/* Empty without metrics.secure. Begins with a line break. */}}
{{- define "traffic-operator.metricsRights" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure }}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- end }}

{{/* For the Lease of this name. */}}
{{- define "traffic-operator.leaseRights" -}}
# Leader election. `create` cannot be restricted by name, because a POST has no name in its path.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ . }}]
  verbs: [get, list, watch, update]
{{- end }}
