// Package manifests checks deploy/kubernetes without a cluster: kustomize itself builds every overlay, and the server's own types read what
// comes out, so that a misspelt field is an error and not silently nothing.
//
// A server also knows which values are allowed: `kubectl apply --dry-run=server -k OVERLAY` asks one.
package manifests

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// An Object is one document of what kustomize builds.
type Object struct {
	Kind string
	Name string
	// Value is a pointer to one of the types of kinds.
	Value any
}

// A TestRun of the k6-operator: of its types those fields that are used here. Its own package would bring the whole client of a controller.
type TestRun struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Parallelism int32  `json:"parallelism"`
		Separate    bool   `json:"separate"`
		Arguments   string `json:"arguments"`
		Script      struct {
			ConfigMap struct {
				Name string `json:"name"`
				File string `json:"file"`
			} `json:"configMap"`
		} `json:"script"`
		Initializer struct {
			Disabled bool `json:"disabled"`
		} `json:"initializer"`
		Starter Runner `json:"starter"`
		Runner  Runner `json:"runner"`
	} `json:"spec"`
}

// A Runner is what the operator makes a pod of.
type Runner struct {
	Image                        string                      `json:"image"`
	ImagePullPolicy              corev1.PullPolicy           `json:"imagePullPolicy"`
	AutomountServiceAccountToken string                      `json:"automountServiceAccountToken"`
	Env                          []corev1.EnvVar             `json:"env"`
	EnvFrom                      []corev1.EnvFromSource      `json:"envFrom"`
	NodeSelector                 map[string]string           `json:"nodeSelector"`
	Tolerations                  []corev1.Toleration         `json:"tolerations"`
	Resources                    corev1.ResourceRequirements `json:"resources"`
	SecurityContext              corev1.PodSecurityContext   `json:"securityContext"`
	ContainerSecurityContext     corev1.SecurityContext      `json:"containerSecurityContext"`
	Metadata                     struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
}

var kinds = map[string]func() any{
	"v1 ConfigMap":                       func() any { return new(corev1.ConfigMap) },
	"v1 Namespace":                       func() any { return new(corev1.Namespace) },
	"v1 Secret":                          func() any { return new(corev1.Secret) },
	"v1 Service":                         func() any { return new(corev1.Service) },
	"apps/v1 Deployment":                 func() any { return new(appsv1.Deployment) },
	"batch/v1 Job":                       func() any { return new(batchv1.Job) },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return new(networkingv1.NetworkPolicy) },
	"k6.io/v1alpha1 TestRun":             func() any { return new(TestRun) },
}

// Build builds the overlay at path and reads every document of it; the error names each field that its type does not have.
func Build(files filesys.FileSystem, path string) ([]Object, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, path)
	if err != nil {
		return nil, err
	}
	var objects []Object
	var wrong []error
	for _, each := range built.Resources() {
		document, err := each.MarshalJSON()
		if err != nil {
			return nil, err
		}
		kind := fmt.Sprintf("%s %s", each.GetApiVersion(), each.GetKind())
		typed, known := kinds[kind]
		if !known {
			wrong = append(wrong, fmt.Errorf("%s %s: no type is known", kind, each.GetName()))
			continue
		}
		value := typed()
		strict, err := json.UnmarshalStrict(document, value)
		for _, one := range append(strict, err) {
			if one != nil {
				wrong = append(wrong, fmt.Errorf("%s %s: %w", each.GetKind(), each.GetName(), one))
			}
		}
		objects = append(objects, Object{each.GetKind(), each.GetName(), value})
	}
	return objects, errors.Join(wrong...)
}
