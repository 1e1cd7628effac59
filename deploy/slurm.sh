#!/usr/bin/env bash
# A corpus on a Slurm cluster: an array of generate jobs, then one that puts the parts together.
#
#   PARTS=64 OUT=/scratch/corpus deploy/slurm.sh --recipe paper --seed 7
#
# Everything after the script's name goes to `magnetar generate`. A task that was killed, or lost with its node, is run again
# by `scontrol requeue`, or by this script once more: it goes on where it stopped.
set -euo pipefail
parts=${PARTS:?how many parts: PARTS=64}
out=${OUT:?where to, on storage that all nodes see: OUT=/scratch/corpus}
magnetar=${MAGNETAR:-magnetar}
cpus=${CPUS:-8}
printf -v flags '%q ' "$@"

array=$(sbatch --parsable --job-name=magnetar --array="1-$parts" --cpus-per-task="$cpus" --requeue \
  --output="$out.part-%a.log" \
  --wrap "$magnetar generate $flags --part auto --threads \$SLURM_CPUS_PER_TASK --out $out.parts/\$SLURM_ARRAY_TASK_ID")
# merge says which parts are missing, if any are.
sbatch --parsable --job-name=magnetar-merge --dependency="afterany:$array" --output="$out.merge.log" \
  --wrap "$magnetar merge $out.parts/* --out $out && $magnetar verify $out --sample 1000"
