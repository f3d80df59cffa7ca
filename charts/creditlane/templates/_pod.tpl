{{/* What all pods have in common: an account without a token, and the restrictions of Pod Security. */}}

{{- define "creditlane.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  # The group that reads the mounted secrets.
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
dnsConfig:
  # Most names outside of the cluster have two dots or more and need no search.
  options: [{ name: ndots, value: "2" }]
{{- end }}

{{/* The nodes on which a pod may run: the argument has a service's values, or the default ones. */}}
{{- define "creditlane.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "creditlane.container" -}}
image: {{ include "creditlane.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: {{ not .Values.image.writable }}
  capabilities: { drop: [ALL] }
{{- end }}

{{/*
Secrets of a service as a list of {secret, key, file, variable}: argument (list $ $name $service), and true at the end for
a command, which reads its database and the service's own settings, but makes no calls and publishes no events.
*/}}
{{- define "creditlane.files" -}}
{{- $root := index . 0 }}{{- $name := index . 1 }}{{- $service := index . 2 }}{{- $serving := lt (len .) 4 }}
{{- $values := $root.Values }}
{{- $own := $service.secretName | default (printf "%s-%s" (include "creditlane.secretPrefix" $root) $name) }}
{{- $files := list }}
{{- $inFiles := $service.secretFiles | default dict }}
{{- range $service.secrets }}
{{- /* A URL that is in a Secret has the password. */}}
{{- if and (or $serving (ne . "IDENTITY_KEY")) (not (and (eq . "DATABASE_PASSWORD") (hasKey $inFiles "DATABASE_URL"))) }}
{{- $files = append $files (dict "secret" $own "key" . "file" . "variable" (printf "%s_FILE" .)) }}
{{- end }}
{{- end }}
{{- if and $serving (eq $service.serves "calls") }}
{{- $files = append $files (dict "secret" (printf "%s-identity-trust" (include "creditlane.secretPrefix" $root)) "key" "IDENTITY_TRUST" "file" "IDENTITY_TRUST" "variable" "IDENTITY_TRUST_FILE") }}
{{- end }}
{{- if and $service.database $values.postgres.caSecret }}
{{- $files = append $files (dict "secret" $values.postgres.caSecret "key" "ca.crt" "file" "postgres-ca.crt" "variable" "") }}
{{- end }}
{{- if and $serving (or $service.publishes $service.consumes) }}
{{- if ne $values.kafka.saslMechanism "none" }}
{{- $files = append $files (dict "secret" $own "key" "KAFKA_SASL_PASSWORD" "file" "KAFKA_SASL_PASSWORD" "variable" "KAFKA_SASL_PASSWORD_FILE") }}
{{- end }}
{{- if and $values.kafka.tls $values.kafka.caSecret }}
{{- $files = append $files (dict "secret" $values.kafka.caSecret "key" "ca.crt" "file" "kafka-ca.crt" "variable" "KAFKA_SSL_CA_FILE") }}
{{- end }}
{{- end }}
{{- if and $serving $values.tls.enabled }}
{{- range $key, $variable := dict "tls.crt" "TLS_CERT_FILE" "tls.key" "TLS_KEY_FILE" "ca.crt" "TLS_CA_FILE" }}
{{- $files = append $files (dict "secret" (printf "%s-tls" $own) "key" $key "file" $key "variable" $variable) }}
{{- end }}
{{- end }}
{{- range $variable, $from := $service.secretFiles }}
{{- $env := ternary $variable (printf "%s_FILE" $variable) (hasSuffix "_FILE" $variable) }}
{{- $files = append $files (dict "secret" $from.secret "key" $from.key "file" $variable "variable" $env) }}
{{- end }}
{{- toYaml $files }}
{{- end }}

{{/* The environment of a service, or of its command: the argument is that of creditlane.files. Only what the service reads is set. */}}
{{- define "creditlane.environment" -}}
{{- $root := index . 0 }}{{- $name := index . 1 }}{{- $service := index . 2 }}{{- $serving := lt (len .) 4 }}
{{- $values := $root.Values }}
{{- $env := dict }}
{{- with $service.database }}
{{- $parameters := list }}
{{- with $values.postgres.sslMode }}{{ $parameters = append $parameters (printf "sslmode=%s" .) }}{{ end }}
{{- if $values.postgres.caSecret }}{{ $parameters = append $parameters "sslrootcert=/run/secrets/creditlane/postgres-ca.crt" }}{{ end }}
{{- $query := ternary (printf "?%s" (join "&" $parameters)) "" (gt (len $parameters) 0) }}
{{- $_ := set $env "DATABASE_URL" (printf "postgres://%s@%s:%v/%s%s" . $values.postgres.host $values.postgres.port . $query) }}
{{- if $values.allowPlaintext }}{{ $_ := set $env "ALLOW_PLAINTEXT" "true" }}{{ end }}
{{- $_ := set $env "MIGRATE_AT_START" (ternary "true" "false" (eq $values.migrations.by "start")) }}
{{- end }}
{{- if and $serving (or $service.publishes $service.consumes) }}
{{- $env = merge $env (include "creditlane.kafkaEnvironment" (list $root $name) | fromYaml) }}
{{- end }}
{{- range ternary $service.calls (list) $serving }}
{{- $_ := set $env (printf "%s_ADDRESS" (. | upper | replace "-" "_")) (printf "%s-%s:9000" (include "creditlane.fullname" $root) .) }}
{{- end }}
{{- if and $serving (eq $service.serves "http") }}
{{- $_ := set $env "DRAIN_TIME" (printf "%ss" (include "creditlane.drainSeconds" (list $root $service))) }}
{{- end }}
{{- range $settings := list $values.settings $service.settings }}
{{- range $variable, $value := $settings }}
{{- /* YAML reads a whole number as a float, whose text would be 1e+06. */}}
{{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}{{ $value = int64 $value }}{{ end }}
{{- $_ := set $env $variable ($value | toString) }}
{{- end }}
{{- end }}
{{- include "creditlane.variables" (list $env (include "creditlane.files" . | fromYamlArray)) }}
{{- end }}

{{/* Variables of a container: argument (list $env $files). Where a file has the value, its path is set instead. */}}
{{- define "creditlane.variables" -}}
{{- $env := index . 0 }}
{{- range index . 1 }}
{{- $_ := unset $env (trimSuffix "_FILE" .variable) }}
{{- if .variable }}{{ $_ := set $env .variable (printf "/run/secrets/creditlane/%s" .file) }}{{ end }}
{{- end }}
{{- range $variable, $value := $env }}
- { name: {{ $variable }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{/* The Kafka variables of a user: argument (list $ $username). */}}
{{- define "creditlane.kafkaEnvironment" -}}
{{- $root := index . 0 }}{{- $kafka := $root.Values.kafka }}
KAFKA_BROKERS: {{ join "," $kafka.brokers | quote }}
{{- with $kafka.prefix }}
KAFKA_PREFIX: {{ . | quote }}
{{- end }}
{{- if $kafka.replication }}
KAFKA_REPLICATION: {{ $kafka.replication | quote }}
{{- end }}
{{- if $root.Values.allowPlaintext }}
ALLOW_PLAINTEXT: "true"
{{- end }}
{{- if $kafka.tls }}
KAFKA_SSL: "true"
{{- end }}
{{- if ne $kafka.saslMechanism "none" }}
KAFKA_SASL_MECHANISM: {{ $kafka.saslMechanism }}
KAFKA_SASL_USERNAME: {{ index . 1 }}
{{- end }}
{{- end }}

{{/* One volume of files from several Secrets; the kubelet replaces all its files at once. */}}
{{- define "creditlane.secretVolume" -}}
- name: secrets
  projected:
    # For the owner and the pod's group.
    defaultMode: 0440
    sources:
      {{- range . }}
      - secret:
          name: {{ .secret }}
          items: [{ key: {{ .key }}, path: {{ .file }} }]
      {{- end }}
{{- end }}

{{- define "creditlane.secretMount" -}}
- { name: secrets, mountPath: /run/secrets/creditlane, readOnly: true }
{{- end }}
