/** A job with this variable has programs that expect the variables of Slurm. */
export const SLURM_MARK = 'WEFT_SLURM';

/** The path of the script, empty without one, where jobs of releases before have it. */
export const SCRIPT = 'WEFT_SLURM_SCRIPT';

/** The folder of the commands, which they tell each other: `weft front slurm` has made it. */
export const FOLDER_VARIABLE = 'WEFT_SLURM_FOLDER';

/** Cpus of each rank, where somebody typed them: whole nodes have more. */
export const CPUS_VARIABLE = 'WEFT_SLURM_CPUS_PER_TASK';
