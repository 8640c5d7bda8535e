package lock

import (
	"fmt"
	"os"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// children are the functions that the test's program runs in processes of their own.
var children = map[string]testenv.Child{"holds": holdUntilKilled}

func TestMain(m *testing.M) { testenv.Main(m, children) }

// holdUntilKilled is the other process of the tests.
func holdUntilKilled(dir, _ string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	if _, err = Try(root, "x.lock", 0o600); err != nil {
		fmt.Println(err)
		return nil
	}
	fmt.Println("locked")
	<-testenv.Orders()
	return nil
}
