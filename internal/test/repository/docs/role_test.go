package docs

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rights are what the methods of azcosmos need, as the service calls it.
var rights = map[string]string{
	"CreateItem":         "sqlDatabases/containers/items/create",
	"ReadItem":           "sqlDatabases/containers/items/read",
	"ReplaceItem":        "sqlDatabases/containers/items/replace",
	"UpsertItem":         "sqlDatabases/containers/items/upsert",
	"DeleteItem":         "sqlDatabases/containers/items/delete",
	"PatchItem":          "sqlDatabases/containers/items/patch",
	"NewQueryItemsPager": "sqlDatabases/containers/executeQuery",
	"Read":               "readMetadata", // of the container
}

// TestRoleIsWhatIsUsed compares the role in hybrid/README.md with the methods that
// the copying calls, but for those that make the container.
func TestRoleIsWhatIsUsed(t *testing.T) {
	t.Parallel()
	readme := text(t, "hybrid/README.md")
	raw := regexp.MustCompile(`(?s)<<'JSON'\n(.*?)\nJSON\n`).FindStringSubmatch(readme)
	require.NotNil(t, raw)
	var role struct {
		Permissions []struct{ DataActions []string }
	}
	require.NoError(t, json.Unmarshal([]byte(raw[1]), &role))
	require.Len(t, role.Permissions, 1)
	var given []string
	for _, action := range role.Permissions[0].DataActions {
		name, ok := strings.CutPrefix(action, "Microsoft.DocumentDB/databaseAccounts/")
		require.True(t, ok, action)
		given = append(given, name)
	}
	require.ElementsMatch(t, used(t), given)
}

// used returns the rights that the files of hybrid/cosmos need.
func used(t *testing.T) (names []string) {
	paths, err := filepath.Glob(filepath.Join(root, "hybrid", "cosmos", "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "provision.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			right, known := rights[s.Sel.Name]
			if known && (s.Sel.Name != "Read" || isContainer(s.X)) && !slices.Contains(names, right) {
				names = append(names, right)
			}
			return true
		})
	}
	return names
}

func isContainer(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && name.Name == "container"
}
