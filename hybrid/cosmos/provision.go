package cosmos

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Provision creates the database and the container where they are missing.
func Provision(ctx context.Context, c *azcosmos.Client, database, container string) error {
	_, err := c.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: database}, nil)
	if err := unlessThere(err); err != nil {
		return err
	}
	db, err := c.NewDatabase(database)
	if err != nil {
		return err
	}
	_, err = db.CreateContainer(ctx, properties(container), nil)
	if err := unlessThere(err); err != nil {
		return err
	}
	made, err := db.NewContainer(container)
	if err != nil {
		return err
	}
	return examine(ctx, made)
}

func unlessThere(err error) error {
	if e := (*azcore.ResponseError)(nil); errors.As(err, &e) {
		if e.StatusCode == http.StatusConflict {
			return nil
		}
		return &statusError{status: e.StatusCode, code: e.ErrorCode}
	}
	return err
}

// properties is the container: the partition key is indexed and no other path, since each
// adds to the cost of every write. The service indexes /id and /_ts by itself.
func properties(id string) azcosmos.ContainerProperties {
	policy := azcosmos.IndexingPolicy{
		Automatic:     true,
		IndexingMode:  azcosmos.IndexingModeConsistent,
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/pk/?"}},
		ExcludedPaths: []azcosmos.ExcludedPath{{Path: "/*"}},
	}
	return azcosmos.ContainerProperties{
		ID:                     id,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Kind: azcosmos.PartitionKeyKindHash, Paths: []string{"/pk"}, Version: 2},
		IndexingPolicy:         &policy,
	}
}
