/* The iteration of Dawid and Skene's EM in plain C, one item at a time: the roofline of bench/aggregate.py.

   bare_loop FILE ITERATIONS CLOCK reads int32 n_items, n_annotators, n_classes, n_rows, then the offsets of the items
   (n_items + 1), the annotator and the label of each row. It starts from vote shares, uses no prior, and prints
   the seconds (CLOCK cpu or wall) of the quickest iteration and the log-likelihood of the last. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(const char *which) {
    struct timespec now;
    clock_gettime(strcmp(which, "cpu") ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Counts become log p(label | class): values has the shape (annotators, labels, classes). */
static void maximise(double *values, double *prior, long n_annotators, long n_classes) {
    double *total = malloc((size_t)n_classes * sizeof *total), mass = 0;
    for (long j = 0; j < n_annotators; j++) {
        double *matrix = values + j * n_classes * n_classes;
        memset(total, 0, (size_t)n_classes * sizeof *total);
        for (long l = 0; l < n_classes; l++)
            for (long k = 0; k < n_classes; k++) total[k] += matrix[l * n_classes + k];
        for (long k = 0; k < n_classes; k++) total[k] = total[k] > 0 ? log(total[k]) : 0;
        for (long l = 0; l < n_classes; l++)
            for (long k = 0; k < n_classes; k++) matrix[l * n_classes + k] = log(matrix[l * n_classes + k]) - total[k];
    }
    for (long k = 0; k < n_classes; k++) mass += prior[k];
    for (long k = 0; k < n_classes; k++) prior[k] = log(prior[k] / mass);
    free(total);
}

int main(int argc, char **argv) {
    int head[4];
    FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(head, sizeof(int), 4, file) != 4) return 2;
    long n_items = head[0], n_annotators = head[1], n_classes = head[2], n_rows = head[3];
    int *offsets = malloc((size_t)(n_items + 1) * sizeof(int));
    int *annotator = malloc((size_t)n_rows * sizeof(int)), *label = malloc((size_t)n_rows * sizeof(int));
    if (fread(offsets, sizeof(int), (size_t)n_items + 1, file) != (size_t)n_items + 1 ||
        fread(annotator, sizeof(int), (size_t)n_rows, file) != (size_t)n_rows ||
        fread(label, sizeof(int), (size_t)n_rows, file) != (size_t)n_rows)
        return 2;
    size_t size = (size_t)(n_annotators * n_classes * n_classes);
    double *table = calloc(size, sizeof(double)), *counts = calloc(size, sizeof(double));
    double *log_prior = calloc((size_t)n_classes, sizeof(double)), *prior = calloc((size_t)n_classes, sizeof(double));
    double *scores = malloc((size_t)n_classes * sizeof(double));

    for (long i = 0; i < n_items; i++) {
        double share = 1.0 / (offsets[i + 1] - offsets[i]);
        for (long k = 0; k < n_classes; k++) scores[k] = 0;
        for (long r = offsets[i]; r < offsets[i + 1]; r++) scores[label[r]] += share;
        for (long r = offsets[i]; r < offsets[i + 1]; r++) {
            double *row = table + ((long)annotator[r] * n_classes + label[r]) * n_classes;
            for (long k = 0; k < n_classes; k++) row[k] += scores[k];
        }
        for (long k = 0; k < n_classes; k++) log_prior[k] += scores[k];
    }
    maximise(table, log_prior, n_annotators, n_classes);

    double quickest = 1e300, likelihood = 0;
    for (int step = 0; step < atoi(argv[2]); step++) {
        double begin = seconds(argv[3]);
        likelihood = 0;
        memset(counts, 0, size * sizeof(double));
        memset(prior, 0, (size_t)n_classes * sizeof(double));
        for (long i = 0; i < n_items; i++) {
            double top = -INFINITY, total = 0;
            for (long k = 0; k < n_classes; k++) scores[k] = log_prior[k];
            for (long r = offsets[i]; r < offsets[i + 1]; r++) {
                const double *row = table + ((long)annotator[r] * n_classes + label[r]) * n_classes;
                for (long k = 0; k < n_classes; k++) scores[k] += row[k];
            }
            for (long k = 0; k < n_classes; k++) top = scores[k] > top ? scores[k] : top;
            for (long k = 0; k < n_classes; k++) total += scores[k] = exp(scores[k] - top);
            likelihood += top + log(total);
            for (long k = 0; k < n_classes; k++) prior[k] += scores[k] /= total;
            for (long r = offsets[i]; r < offsets[i + 1]; r++) {
                double *row = counts + ((long)annotator[r] * n_classes + label[r]) * n_classes;
                for (long k = 0; k < n_classes; k++) row[k] += scores[k];
            }
        }
        maximise(counts, prior, n_annotators, n_classes);
        double *spare = table;
        table = counts, counts = spare;
        spare = log_prior;
        log_prior = prior, prior = spare;
        double took = seconds(argv[3]) - begin;
        quickest = took < quickest ? took : quickest;
    }
    printf("%.9g %.17g\n", quickest, likelihood);
    return 0;
}
