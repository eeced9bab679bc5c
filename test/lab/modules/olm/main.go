// Command operator-framework has what no program of operator-framework/api prints:
//
//	operator-framework validate BUNDLE   the validators that operator-verify does not run; one problem a line
//	operator-framework crds              the CRDs of OLM, as a JSON list
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/api/crds"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	validator "github.com/operator-framework/api/pkg/validation/interfaces"
)

var validators = validator.Validators{
	validation.OperatorHubV2Validator,
	validation.StandardCategoriesValidator,
	validation.StandardCapabilitiesValidator,
	validation.AlphaDeprecatedAPIsValidator,
	validation.GoodPracticesValidator,
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "validate":
		validate(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "crds":
		printCRDs()
	default:
		fail("usage: operator-framework validate BUNDLE | crds")
	}
}

func validate(directory string) {
	bundle, err := manifests.GetBundleFromDir(directory)
	if err != nil {
		fail(err)
	}
	found := 0
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, problem := range append(result.Errors, result.Warnings...) {
			fmt.Println(problem.Error())
			found++
		}
	}
	if found > 0 {
		os.Exit(1)
	}
}

func printCRDs() {
	items := []any{
		crds.CatalogSource(), crds.ClusterServiceVersion(), crds.InstallPlan(), crds.OLMConfig(),
		crds.Operator(), crds.OperatorCondition(), crds.OperatorGroup(), crds.Subscription(),
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	if err := json.NewEncoder(os.Stdout).Encode(list); err != nil {
		fail(err)
	}
}

func fail(problem any) {
	fmt.Fprintln(os.Stderr, problem)
	os.Exit(1)
}
