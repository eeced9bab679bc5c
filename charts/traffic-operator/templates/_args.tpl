{{/* Arguments of every process that runs controllers. */}}
{{- define "traffic-operator.processArgs" -}}
- --namespace={{ .Release.Namespace }}
- --leader-elect
- --log-level={{ .Values.logLevel }}
- --health-probe-bind-address=:8081
{{ include "traffic-operator.metricsArgs" . }}
{{- end }}

{{- define "traffic-operator.metricsArgs" -}}
- --metrics-bind-address={{ ternary (printf ":%v" .Values.metrics.port) "0" .Values.metrics.enabled }}
{{- if and .Values.metrics.enabled .Values.metrics.secure }}
- --metrics-secure
- --metrics-cert-path=/etc/traffic-operator/certificate
{{- end }}
{{- end }}

{{/* Arguments with the Prometheus that is queried; it may be empty. */}}
{{- define "traffic-operator.prometheusArgs" -}}
{{- $prometheus := .Values.prometheus -}}
{{- with $prometheus.url }}
- {{ printf "--prometheus-url=%s" . | quote }}
{{- end }}
{{- with $prometheus.username }}
- {{ printf "--prometheus-username=%s" . | quote }}
{{- end }}
{{- if $prometheus.passwordSecret.name }}
- --prometheus-password-file=/etc/traffic-operator/password/{{ $prometheus.passwordSecret.key }}
{{- end }}
{{- if $prometheus.bearerTokenSecret.name }}
- --prometheus-bearer-token-file=/etc/traffic-operator/token/{{ $prometheus.bearerTokenSecret.key }}
{{- end }}
{{- if $prometheus.caSecret.name }}
- --prometheus-ca-file=/etc/traffic-operator/ca/{{ $prometheus.caSecret.key }}
{{- else if $prometheus.caConfigMap.name }}
- --prometheus-ca-file=/etc/traffic-operator/ca/{{ $prometheus.caConfigMap.key }}
{{- end }}
{{- range $name, $value := $prometheus.headers }}
- {{ printf "--prometheus-header=%s: %s" $name $value | quote }}
{{- end }}
{{- range .Values.discovery.namespaces }}
- --discovery-namespace={{ . }}
{{- end }}
{{- end }}

{{/* Arguments of the manager, one per line. */}}
{{- define "traffic-operator.args.manager" -}}
{{- $prometheus := .Values.prometheus -}}
- manager
{{ include "traffic-operator.processArgs" . }}
- --interval={{ .Values.interval }}
{{- with .Values.window }}
- --window={{ . }}
{{- end }}
- --scrape-interval={{ .Values.scrapeInterval }}
{{- with .Values.deviceExclude }}
- {{ printf "--device-exclude=%s" . | quote }}
{{- end }}
{{- with .Values.deviceExcludeDefault }}
- {{ printf "--device-exclude-default=%s" . | quote }}
{{- end }}
{{- with .Values.capacityLabel }}
- {{ printf "--capacity-label=%s" . | quote }}
{{- end }}
{{- range $name, $value := .Values.commonLabels }}
- {{ printf "--object-label=%s=%s" $name $value | quote }}
{{- end }}
{{- range $name, $value := .Values.podLabels }}
- {{ printf "--pod-label=%s=%s" $name $value | quote }}
{{- end }}
{{- range $name, $value := .Values.podAnnotations }}
- {{ printf "--pod-annotation=%s=%s" $name $value | quote }}
{{- end }}
{{- with .Values.trafficWatch }}
{{- if ne (int .mostPerNamespace) 200 }}
- --most-watches-per-namespace={{ .mostPerNamespace }}
{{- end }}
{{- if ne (int .most) 2000 }}
- --most-watches={{ .most }}
{{- end }}
{{- if ne (int .mostReadingsPerNamespace) 100 }}
- --most-readings-per-namespace={{ .mostReadingsPerNamespace }}
{{- end }}
{{- if ne (int .mostReadings) 400 }}
- --most-readings={{ .mostReadings }}
{{- end }}
{{- if not .deployments.enabled }}
- --deployments=false
{{- else if not (has "*" .deployments.namespaces) }}
{{- range .deployments.namespaces }}
- --deployment-namespace={{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- include "traffic-operator.prometheusArgs" . }}
{{- range $prometheus.matchers }}
- {{ printf "--prometheus-matcher=%s" . | quote }}
{{- end }}
{{- range $prometheus.replicaLabels }}
- --prometheus-replica-label={{ . }}
{{- end }}
- --prometheus-image={{ $prometheus.image }}
{{- with $prometheus.priorityClassName }}
- --prometheus-priority-class={{ . }}
{{- end }}
{{- with $prometheus.resources }}
- {{ printf "--prometheus-resources=%s" (toJson .) | quote }}
{{- end }}
{{- range $name, $value := $prometheus.nodeSelector }}
- {{ printf "--prometheus-node-selector=%s=%s" $name $value | quote }}
{{- end }}
{{- with $prometheus.tolerations }}
- {{ printf "--prometheus-tolerations=%s" (toJson .) | quote }}
{{- end }}
{{- with $prometheus.retention }}
- --prometheus-retention={{ . }}
{{- end }}
{{- with $prometheus.retentionSize }}
- --prometheus-retention-size={{ . }}
{{- end }}
{{- with $prometheus.storage.size }}
- --prometheus-storage-size={{ . }}
{{- end }}
{{- with $prometheus.storage.storageClassName }}
- --prometheus-storage-class={{ . }}
{{- end }}
{{- with $prometheus.storage.existingClaim }}
- --prometheus-existing-claim={{ . }}
{{- end }}
{{- if ne (toString .Values.nodeExporter.enabled) "auto" }}
- --node-exporter={{ .Values.nodeExporter.enabled }}
{{- end }}
- --node-exporter-image={{ .Values.nodeExporter.image }}
{{- $port := toString .Values.nodeExporter.port }}
{{- if eq $port "auto" }}
{{- $port = ternary "9890" "9100" (eq (include "traffic-operator.openshift" .) "true") }}
{{- end }}
- --node-exporter-port={{ $port }}
{{- with .Values.nodeExporter.priorityClassName }}
- --node-exporter-priority-class={{ . }}
{{- end }}
{{- range $name, $value := .Values.nodeExporter.nodeSelector }}
- {{ printf "--node-exporter-node-selector=%s=%s" $name $value | quote }}
{{- end }}
{{- with .Values.nodeExporter.affinity }}
- {{ printf "--node-exporter-affinity=%s" (toJson .) | quote }}
{{- end }}
{{- with .Values.nodeExporter.resources }}
- {{ printf "--node-exporter-resources=%s" (toJson .) | quote }}
{{- end }}
{{- range .Values.imagePullSecrets }}
- --image-pull-secret={{ .name }}
{{- end }}
{{- if eq (include "traffic-operator.openshift" .) "true" }}
- --openshift=true
{{- end }}
{{- with .Values.nodeExporter.ignoredDevices }}
- {{ printf "--node-exporter-ignored-devices=%s" . | quote }}
{{- end }}
{{- if .Values.connectivity.enabled }}
{{- $connectivity := .Values.connectivity }}
- --connectivity
- --connectivity-image={{ include "traffic-operator.image" . }}
- --connectivity-image-pull-policy={{ .Values.image.pullPolicy }}
{{- with $connectivity.server.resources }}
- {{ printf "--connectivity-server-resources=%s" (toJson .) | quote }}
{{- end }}
{{- range $name, $value := $connectivity.server.nodeSelector }}
- {{ printf "--connectivity-server-node-selector=%s=%s" $name $value | quote }}
{{- end }}
{{- with $connectivity.server.tolerations }}
- {{ printf "--connectivity-server-tolerations=%s" (toJson .) | quote }}
{{- end }}
{{- with $connectivity.server.priorityClassName }}
- --connectivity-server-priority-class={{ . }}
{{- end }}
{{- with $connectivity.agents.resources }}
- {{ printf "--connectivity-agent-resources=%s" (toJson .) | quote }}
{{- end }}
{{- with $connectivity.agents.priorityClassName }}
- --connectivity-agent-priority-class={{ . }}
{{- end }}
- --connectivity-report-interval={{ $connectivity.reportInterval }}
- --connectivity-service-type={{ $connectivity.service.type }}
{{- with $connectivity.tls.secretName }}
- --connectivity-tls-secret={{ . }}
- --connectivity-server-ca-file=/etc/traffic-operator/connectivity-ca/ca.crt
{{- end }}
- --connectivity-peer-port={{ $connectivity.peerPort }}
- --connectivity-allow-anonymous={{ $connectivity.allowAnonymous }}
{{- range $connectivity.allowedTargets }}
- {{ printf "--connectivity-allow-target-cidr=%s" . | quote }}
{{- end }}
{{- range $name, $value := $connectivity.nodeSelector }}
- {{ printf "--connectivity-node-selector=%s=%s" $name $value | quote }}
{{- end }}
{{- end }}
{{- if .Values.weights.enabled }}
- --weights=true
{{- end }}
{{- if .Values.stacks.enabled }}
- --stacks=true
{{- end }}
- --default-stack={{ .Values.stacks.default }}
{{- if .Values.stacks.enabled }}
{{- if not (has "*" .Values.stacks.namespaces) }}
{{- /* Without this flag, every namespace is allowed. */}}
{{- range .Values.stacks.namespaces | default (list .Release.Namespace) }}
- --stack-namespace={{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.stacks.enabled }}
{{- range .Values.stacks.objectKinds }}
- --stack-object-kind={{ .apiVersion }}/{{ .resource }}/{{ .kind }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* Arguments of the process for DNS weights. */}}
{{- define "traffic-operator.args.weights" -}}
- trafficweights
{{ include "traffic-operator.processArgs" . }}
{{- include "traffic-operator.prometheusArgs" . }}
{{- if .Values.stacks.enabled }}
- --stacks=true
{{- end }}
{{- range .Values.weights.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* Files that the arguments refer to, each from its own Secret or ConfigMap: "directory name: volume source". */}}
{{- define "traffic-operator.files.metrics" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure }}
certificate: {secret: {secretName: {{ required "metrics.secure needs metrics.certSecret" .Values.metrics.certSecret }}}}
{{- end }}
{{- end }}

{{- define "traffic-operator.files.placementWebhook" -}}
{{- include "traffic-operator.files.metrics" . }}
{{- with .Values.placementWebhook.clientCaConfigMap.name }}
client-ca: {configMap: {name: {{ . }}}}
{{- end }}
{{- end }}

{{- define "traffic-operator.files.weights" -}}
{{- $prometheus := .Values.prometheus -}}
{{- include "traffic-operator.files.metrics" . }}
{{- with $prometheus.passwordSecret.name }}
password: {secret: {secretName: {{ . }}}}
{{- end }}
{{- with $prometheus.bearerTokenSecret.name }}
token: {secret: {secretName: {{ . }}}}
{{- end }}
{{- if $prometheus.caSecret.name }}
ca: {secret: {secretName: {{ $prometheus.caSecret.name }}}}
{{- else if $prometheus.caConfigMap.name }}
ca: {configMap: {name: {{ $prometheus.caConfigMap.name }}}}
{{- end }}
{{- end }}

{{- define "traffic-operator.files.manager" -}}
{{- include "traffic-operator.files.weights" . }}
{{- if .Values.connectivity.enabled }}
{{- with .Values.connectivity.tls.secretName }}
{{- /* Without the key. Optional: the operator starts without the Secret, and says what is missing. */}}
connectivity-ca: {secret: {secretName: {{ . }}, optional: true, items: [{key: ca.crt, path: ca.crt}]}}
{{- end }}
{{- end }}
{{- end }}
