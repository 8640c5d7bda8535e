// Package layers holds the face of the public packages, what they are built of, and
// the order of the files in each package. What a package may import and call is in
// .golangci.yml, and what no line may say in .ci/run.
package layers
