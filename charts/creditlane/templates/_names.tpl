{{/* Names, labels and small pieces. */}}

{{- define "creditlane.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "creditlane.secretPrefix" -}}
{{- .Values.secretPrefix | default (include "creditlane.fullname" .) }}
{{- end }}

{{- define "creditlane.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* What selects every pod of the release. */}}
{{- define "creditlane.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "creditlane.labels" -}}
{{ include "creditlane.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The services, each with the defaults for what it does not say itself. */}}
{{- define "creditlane.services" -}}
{{- $all := dict }}
{{- range $name, $service := .Values.services }}
{{- $entry := mergeOverwrite (deepCopy $.Values.defaults) (deepCopy $service) }}
{{- /* Its two fields exclude each other. */}}
{{- with $service.podDisruptionBudget }}{{ $_ := set $entry "podDisruptionBudget" . }}{{ end }}
{{- $_ := set $all $name $entry }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* The value of a setting of a service: argument (list $ $service "NAME"). */}}
{{- define "creditlane.setting" -}}
{{- $root := index . 0 }}{{- $service := index . 1 }}{{- $name := index . 2 }}
{{- get $service.settings $name | default (get $root.Values.settings $name) }}
{{- end }}

{{/* NetworkPolicyPeers of hosts: argument (dict "what" "postgres" "peers" list "hosts" list "namespace" text). */}}
{{- define "creditlane.peers" -}}
{{- if .peers }}{{ toYaml .peers }}
{{- else }}
{{- range .hosts }}
{{- if regexMatch `^\d+\.\d+\.\d+\.\d+$` . }}
- ipBlock: { cidr: {{ . }}/32 }
{{- else if regexMatch `^[^.]+\.[^.]+\.svc(\..*)?$|^[^.]+\.[^.]+\.[^.]+\.svc(\..*)?$` . }}
- namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: {{ index (splitList "." (regexReplaceAll `\.svc(\..*)?$` . "")) (sub (len (splitList "." (regexReplaceAll `\.svc(\..*)?$` . ""))) 1) }} }
{{- else }}
{{- fail (printf "%s.peers is needed for network policies: the addresses of %s, such as [{ipBlock: {cidr: 10.1.2.3/32}}]" $.what .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
