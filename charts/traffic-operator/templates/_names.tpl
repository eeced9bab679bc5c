{{/* Names and labels that several templates share. */}}

{{- define "traffic-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* At most 52 characters: the longest suffix is "-cleanup" (8), and pod names of the Job append 6 more. */}}
{{- define "traffic-operator.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := include "traffic-operator.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "traffic-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "traffic-operator.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Name of cluster-scoped objects. It contains the namespace, so that two releases never share one. */}}
{{- define "traffic-operator.clusterName" -}}
{{- if eq .Release.Namespace (include "traffic-operator.fullname" .) -}}
{{- include "traffic-operator.fullname" . }}
{{- else -}}
{{- printf "%s-%s" .Release.Namespace (include "traffic-operator.fullname" .) }}
{{- end }}
{{- end }}

{{- define "traffic-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "traffic-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "traffic-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "traffic-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: traffic-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "traffic-operator.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels of the pods of the deployed Prometheus, as in src/controllers/measurement/names.ts. */}}
{{- define "traffic-operator.prometheusSelector" -}}
app.kubernetes.io/name: prometheus
app.kubernetes.io/component: prometheus
app.kubernetes.io/instance: {{ .Release.Namespace }}
app.kubernetes.io/part-of: traffic-operator
{{- end }}

{{/* Namespace of node-exporter, as in src/controllers/measurement/names.ts. */}}
{{- define "traffic-operator.exporterNamespace" -}}
{{- printf "%s-node-exporter" .Release.Namespace }}
{{- end }}

{{- define "traffic-operator.hook" -}}
helm.sh/hook: pre-delete
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
